import type * as v from 'valibot'

/** Turns texts into vectors whose cosine says how alike the texts are. */
export interface Embedder {
  /** The name under which vectors may be kept; a dimension that is not the model's own is part of it. */
  readonly model: string
  readonly dimensions: number
  /** How its cosines are to be read: at or below `unrelated` two texts share nothing, at `related` a topic. */
  readonly cosines: { readonly unrelated: number; readonly related: number }
  /** One vector a text, in their order. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>
}

/** A text that an answer may be drawn from. */
export interface Passage {
  readonly id: string
  readonly title: string
  readonly text: string
}

/** An answer that names the model that gave it and the passages it was drawn from. */
export interface Answer {
  readonly answer: string
  /** From 0, nothing found, to 1. */
  readonly confidence: number
  readonly sources: readonly string[]
  readonly model: string
}

/** Answers questions from given passages, and from nothing else. */
export interface Answerer {
  readonly model: string
  answer(question: string, passages: readonly Passage[], signal?: AbortSignal): Promise<Answer>
}

/** What a language model is asked for: JSON of a given shape. */
export interface Prompt<S extends v.GenericSchema> {
  /** A name for the shape: letters, digits, `_` and `-`. */
  readonly name: string
  readonly system: string
  readonly user: string
  readonly schema: S
  readonly signal?: AbortSignal | undefined
}

/** A language model that writes JSON. */
export interface Chat {
  readonly model: string
  /** What is sampled and how: part of what an answer depends on. */
  readonly sampling: { readonly temperature: number }
  ask<S extends v.GenericSchema>(prompt: Prompt<S>): Promise<v.InferOutput<S>>
}

/** The models a system works with; `chat` only where an endpoint is configured. */
export interface Model {
  readonly embedder: Embedder
  readonly answerer: Answerer
  readonly chat: Chat | undefined
}

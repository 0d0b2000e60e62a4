import { createHash, randomUUID } from 'node:crypto'

import type { Model } from '@keyspec-systems/model'
import { isUnavailable } from 'keyspec'
import { type LimitResult } from 'keyspec/recipes'

import type { Tutor } from '../keyspace.ts'
import type { Resource } from '../resource/resource.ts'
import type { Endpoint } from '../schema.ts'
import { instantOf } from '../shape/instant.ts'
import type { Session } from '../shape/session.ts'
import type { AbcrDecision, Anchor, TopicHistoryEntry } from '../shape/topic.ts'
import { buildAnchor, type Embed, historyEntryOf } from '../topic/anchor.ts'
import { decide, facetsOf, RELATEDNESS_THRESHOLD } from '../topic/decide.ts'
import { suggestionsFrom } from '../topic/suggestion.ts'
import { cachedEmbed } from './cached-embed.ts'
import type { Library } from './library.ts'
import { Problem } from '@keyspec-systems/program/http'

/** What the tutor works with. */
export interface TutoringOptions {
  readonly keys: Tutor
  readonly model: Model
  readonly library: Library
}

/** What a session may be opened with. */
export interface Opening {
  readonly user_id: string
  readonly classroom_id?: string | undefined
  readonly max_resources?: number | undefined
  readonly relatedness_threshold?: number | undefined
}

/** What became of a question: it is answered where it belongs to the topic. */
export interface Answered {
  readonly decision: AbcrDecision['decision']
  /** Null where the question is about something else. */
  readonly answer: string | null
  readonly confidence: number
  /** Who answered; `embedded:…` where no model is configured. */
  readonly model: string | null
  readonly sources: readonly string[]
  readonly topic: { readonly id: string; readonly canonical_title: string }
  readonly scores: Pick<AbcrDecision, 'attention_score' | 'similarity_score' | 'combined_score'>
  readonly turn_count: number
  /** Resources of the session that could not be had. */
  readonly missing_resources: readonly string[]
}

/** A tutor's work, without HTTP. */
export class Tutoring {
  readonly #keys: Tutor
  readonly #model: Model
  readonly #library: Library
  readonly #embed: Embed

  constructor({ keys, model, library }: TutoringOptions) {
    this.#keys = keys
    this.#model = model
    this.#library = library
    this.#embed = cachedEmbed(model.embedder, keys)
  }

  /** The session of a user: the one that is open, or a new one. */
  async open(opening: Opening): Promise<{ readonly session: Session; readonly isNew: boolean }> {
    const now = instantOf(new Date())
    const fresh: Session = {
      session_id: randomUUID(),
      user_id: opening.user_id,
      classroom_id: opening.classroom_id ?? '',
      created_at: now,
      last_active_at: now,
      turn_count: 0,
      resource_list: [],
      topic_anchor: null,
      config: {
        ttl_hours: 24,
        max_resources: opening.max_resources ?? 25,
        relatedness_threshold: opening.relatedness_threshold ?? RELATEDNESS_THRESHOLD,
      },
    }
    // In one step: of two who open at once both get the same session.
    const session = await this.#keys
      .session({ userId: opening.user_id })
      .update((before) => (before === undefined ? fresh : undefined))
    return { session: session!, isNew: session!.session_id === fresh.session_id }
  }

  /** The session of a user; a 404 where none is open. */
  async session(userId: string): Promise<Session> {
    const session = await this.#keys.session({ userId }).get()
    if (session === undefined) throw noSession(userId)
    return session
  }

  /** Ends a session and all that belongs to it. */
  async close(userId: string): Promise<void> {
    const { session_id: sessionId } = await this.session(userId)
    const { session, anchor, topicHistory, suggestions } = this.#keys
    await Promise.all([
      session({ userId }).delete(),
      anchor({ sessionId }).delete(),
      topicHistory({ sessionId }).clear(),
      suggestions({ sessionId }).delete(),
    ])
  }

  /** Takes one request from a user's limit. */
  take(userId: string, endpoint: Endpoint): Promise<LimitResult> {
    return this.#keys.rate({ userId, endpoint }).take()
  }

  /** The topics of a session, the newest first. */
  async history(userId: string): Promise<TopicHistoryEntry[]> {
    const { session_id: sessionId } = await this.session(userId)
    return this.#keys.topicHistory({ sessionId }).list()
  }

  /** Questions to ask next that the session has not been shown yet. */
  async suggestions(userId: string, most = 3): Promise<string[]> {
    const { session_id: sessionId, resource_list } = await this.session(userId)
    const { resources } = await this.#library.resources(resource_list)
    const texts = new Map(suggestionsFrom(resources).map(({ hash, text }) => [hash, text]))
    const claimed = await this.#keys.suggestions({ sessionId }).claim(texts.keys(), { most })
    return claimed.map((hash) => texts.get(hash)!)
  }

  /**
   * Lets a session learn from a resource; its oldest one goes where it has too many. Answers whether that was noted:
   * false while Redis is away, since what was read is of use even so.
   */
  async learn(userId: string, resourceId: string): Promise<boolean> {
    try {
      const session = await this.#keys.session({ userId }).update((before) => {
        if (before === undefined) return undefined
        const others = before.resource_list.filter((id) => id !== resourceId)
        const most = before.config.max_resources
        const resource_list = most === 0 ? [] : [...others, resourceId].slice(-most)
        return { ...before, resource_list, last_active_at: instantOf(new Date()) }
      })
      if (session === undefined) throw noSession(userId)
      return session.resource_list.includes(resourceId)
    } catch (error) {
      if (error instanceof Problem || !isUnavailable(error)) throw error
      return false
    }
  }

  /**
   * Answers a question, if it belongs to the topic that the session holds on to. The first question of a session, and any
   * that says so, makes the topic.
   */
  async ask(
    session: Session,
    question: string,
    { newTopic = false, signal }: { readonly newTopic?: boolean; readonly signal?: AbortSignal } = {},
  ): Promise<Answered> {
    const { resources, missing } = await this.#library.resources(session.resource_list, signal)
    const anchor = await this.#anchor(session, question, resources, newTopic, signal)
    const decision = await this.#decision(session, question, anchor, signal)
    const given =
      decision.decision === 'related' ? await this.#answer(question, resources, signal) : undefined
    const after = await this.#turn(session.user_id, anchor)
    return {
      decision: decision.decision,
      answer: given?.answer ?? null,
      confidence: given?.confidence ?? 0,
      model: given?.model ?? null,
      sources: given?.sources ?? [],
      topic: { id: anchor.id, canonical_title: anchor.canonical_title },
      scores: {
        attention_score: decision.attention_score,
        similarity_score: decision.similarity_score,
        combined_score: decision.combined_score,
      },
      turn_count: after.turn_count,
      missing_resources: missing,
    }
  }

  async #anchor(
    { session_id: sessionId }: Session,
    question: string,
    resources: readonly Resource[],
    newTopic: boolean,
    signal: AbortSignal | undefined,
  ): Promise<Anchor> {
    const key = this.#keys.anchor({ sessionId })
    const held = newTopic ? undefined : await key.get()
    if (held !== undefined) return this.#readable(held, signal)
    const built = await buildAnchor({ question, resources, embed: this.#embed, ...asked(signal) })
    // Of two first questions at once one makes the topic, and the other belongs to it or not.
    const anchor = await key.update((before) => (before !== undefined && !newTopic ? undefined : built))
    if (anchor!.id === built.id) {
      await this.#keys.topicHistory({ sessionId }).add(historyEntryOf(built))
    }
    return this.#readable(anchor!, signal)
  }

  /** An anchor of another model, or of another writer, is read with a vector of this one. */
  async #readable(anchor: Anchor, signal: AbortSignal | undefined): Promise<Anchor> {
    if (anchor.topic_embedding.length === this.#model.embedder.dimensions) return anchor
    const [vector] = await this.#embed([facetsOf(anchor).join('. ')], signal)
    return { ...anchor, topic_embedding: [...vector!] }
  }

  /** The decision is one on this topic, so the topic is part of what is hashed. */
  #decision(
    { session_id: sessionId, config }: Session,
    question: string,
    anchor: Anchor,
    signal: AbortSignal | undefined,
  ): Promise<AbcrDecision> {
    const { embedder } = this.#model
    const questionHash = JSON.stringify([anchor.id, embedder.model, config.relatedness_threshold, question])
    return this.#keys.abcr({ sessionId, questionHash }).getOrLoad(
      (signal) =>
        decide({
          question,
          anchor,
          cosines: embedder.cosines,
          embed: this.#embed,
          threshold: config.relatedness_threshold,
          signal,
        }),
      asked(signal),
    )
  }

  #answer(question: string, learned: readonly Resource[], signal: AbortSignal | undefined) {
    const { answerer, chat } = this.#model
    // What has been learned counts, not in which order.
    const resources = learned.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    const material = resources.map(({ id, text }) => [id, createHash('sha256').update(text).digest('hex')])
    const contentHash = JSON.stringify([answerer.model, chat?.sampling ?? null, question, material])
    return this.#keys.llm({ contentHash }).getOrLoad(async (signal) => {
      const { answer, confidence, sources, model } = await answerer.answer(question, resources, signal)
      return { answer, confidence, model, sources: [...sources] }
    }, asked(signal))
  }

  /** Counts the turn; of turns at once none is lost. */
  async #turn(userId: string, { id, canonical_title, created_at }: Anchor): Promise<Session> {
    const session = await this.#keys.session({ userId }).update(
      (before) =>
        before && {
          ...before,
          turn_count: before.turn_count + 1,
          last_active_at: instantOf(new Date()),
          topic_anchor: { id, canonical_title, created_at },
        },
    )
    if (session === undefined) throw noSession(userId)
    return session
  }
}

/** What a model says of itself, for people. */
export function modelNames({ embedder, answerer }: Model): { embedder: string; answerer: string } {
  return { embedder: embedder.model, answerer: answerer.model }
}

function noSession(userId: string): Problem {
  return new Problem(404, `${userId} has no session: open one with POST /sessions`)
}

function asked(signal: AbortSignal | undefined) {
  return signal === undefined ? {} : { signal }
}

import { toJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'

import type { Patience } from '../http/patience.ts'
import { requestJson } from '../http/request-json.ts'
import { UpstreamError } from '@keyspec-systems/program/upstream'
import type { Chat, Prompt } from '../model.ts'
import type { EndpointSettings } from '../settings.ts'

/** JSON from `POST /chat/completions`: the schema goes along as `response_format`, and the answer is validated. */
export function endpointChat(settings: EndpointSettings, model: string, patience: Patience): Chat {
  const sampling = { temperature: 0 }
  return {
    model,
    sampling,
    async ask<S extends v.GenericSchema>(prompt: Prompt<S>): Promise<v.InferOutput<S>> {
      // Some endpoints ignore `response_format`, so the prompt says it too.
      const schema = toJsonSchema(prompt.schema, { errorMode: 'ignore' })
      const answer = await requestJson(
        {
          service,
          url: `${settings.baseUrl}chat/completions`,
          token: settings.apiKey,
          body: {
            model,
            ...sampling,
            messages: [
              {
                role: 'system',
                content: `${prompt.system}\n\nAnswer with JSON of this schema only:\n${JSON.stringify(schema)}`,
              },
              { role: 'user', content: prompt.user },
            ],
            response_format: { type: 'json_schema', json_schema: { name: prompt.name, schema } },
          },
          schema: Completion,
          signal: prompt.signal,
        },
        patience,
      )
      return contentOf(answer, prompt)
    },
  }
}

const service = 'the chat endpoint'

const Completion = v.object({
  choices: v.pipe(
    v.array(
      v.object({
        finish_reason: v.nullish(v.string()),
        message: v.object({ content: v.nullish(v.string()), refusal: v.nullish(v.string()) }),
      }),
    ),
    v.nonEmpty('the answer has no choice'),
  ),
})

function contentOf<S extends v.GenericSchema>(
  { choices }: v.InferOutput<typeof Completion>,
  { name, schema }: Prompt<S>,
): v.InferOutput<S> {
  const { message, finish_reason: reason } = choices[0]!
  if (message.refusal) throw new UpstreamError('refused', { service }, `refused ${name}: ${message.refusal}`)
  if (reason === 'length') throw unreadable(`broke off in the middle of ${name}`)
  const parsed = v.safeParse(
    v.pipe(v.string(), v.transform(withoutFence), v.parseJson(), schema),
    message.content,
  )
  if (parsed.success) return parsed.output
  const [issue] = parsed.issues
  throw unreadable(
    `wrote a ${name} of another shape: ${v.getDotPath(issue) ?? ''} ${issue.message}`,
    parsed.issues,
  )
}

function unreadable(what: string, cause?: unknown): UpstreamError {
  return new UpstreamError('unreadable', { service }, what, { cause })
}

/** Many models wrap JSON in a Markdown fence, whatever they are told. */
function withoutFence(text: string): string {
  const trimmed = text.trim()
  const [opening] = /^```(?:json)?[^\S\n]*\n/.exec(trimmed) ?? []
  if (opening === undefined || !trimmed.endsWith('```')) return text
  const fenced = trimmed.slice(opening.length, -3)
  const lastLine = fenced.slice(fenced.lastIndexOf('\n') + 1)
  return fenced.includes('\n') && lastLine.trim() === '' ? fenced.trim() : text
}

import * as v from 'valibot'

const fileFormat = v.looseObject({
  fileUrl: v.nullish(v.string()),
  format: v.nullish(v.string()),
  size: v.nullish(v.number()),
})

// The API writes null, and at times the word "null", where there are no files.
const fileFormats = v.nullish(
  v.union([
    v.array(fileFormat),
    v.pipe(
      v.string(),
      v.transform(() => []),
    ),
  ]),
)

const listed = v.looseObject({
  id: v.pipe(v.string(), v.nonEmpty()),
  type: v.string(),
  attributes: v.looseObject({
    agencyId: v.nullish(v.string()),
    docketId: v.nullish(v.string()),
    lastModifiedDate: v.pipe(v.string(), v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/)),
  }),
  links: v.nullish(v.looseObject({ self: v.nullish(v.string()) })),
})

/** One page of `/v4/dockets`, `/v4/documents` or `/v4/comments`. */
export const ListAnswer = v.looseObject({
  data: v.array(listed),
  meta: v.looseObject({
    hasNextPage: v.boolean(),
    pageNumber: v.number(),
    pageSize: v.number(),
    totalElements: v.number(),
  }),
})

/** A page, validated. */
export type ListAnswer = v.InferOutput<typeof ListAnswer>

/** One docket, document or comment in full, with what `include=attachments` adds. */
export const DetailAnswer = v.looseObject({
  data: v.looseObject({
    id: v.pipe(v.string(), v.nonEmpty()),
    type: v.picklist(['dockets', 'documents', 'comments']),
    attributes: v.looseObject({
      agencyId: v.nullish(v.string()),
      docketId: v.nullish(v.string()),
      modifyDate: v.nullish(v.string()),
      fileFormats,
    }),
  }),
  included: v.nullish(v.array(v.looseObject({ attributes: v.nullish(v.looseObject({ fileFormats })) }))),
})

/** A record in full, validated. */
export type DetailAnswer = v.InferOutput<typeof DetailAnswer>

/** What the API says when it refuses, in either of the two shapes it uses; an empty text when it says nothing. */
export function refusalIn(body: string): string {
  let json: unknown
  try {
    json = JSON.parse(body)
  } catch {
    return ''
  }
  const gateway = v.safeParse(gatewayRefusal, json)
  if (gateway.success) return `${gateway.output.error.code}: ${gateway.output.error.message}`
  const api = v.safeParse(apiRefusal, json)
  if (!api.success) return ''
  return api.output.errors.map(({ title, detail }) => [title, detail].filter(Boolean).join(': ')).join('; ')
}

const gatewayRefusal = v.looseObject({ error: v.looseObject({ code: v.string(), message: v.string() }) })

const apiRefusal = v.looseObject({
  errors: v.array(v.looseObject({ title: v.nullish(v.string()), detail: v.nullish(v.string()) })),
})

import { Type } from '@sinclair/typebox'

export const FieldError = Type.Object(
  {
    path: Type.String({
      description: 'A JSON Pointer into the body, or `query.limit`, `path.id`, `header.if-match`.',
      examples: ['/tasks/3/title'],
    }),
    code: Type.String({ description: 'What kind of mistake.', examples: ['too_long'] }),
    message: Type.String({ description: 'What is wrong and what would be right.' }),
  },
  { $id: 'Mistake', description: 'One thing wrong with a request.' },
)

export const Problem = Type.Object(
  {
    type: Type.String({
      description: 'Address of an explanation.',
      examples: ['/problems/validation_failed'],
    }),
    title: Type.String({ description: 'The kind of problem, in words.' }),
    status: Type.Integer({ description: 'The HTTP status, again.' }),
    code: Type.String({
      description: 'The kind of problem. Branch on this.',
      examples: ['validation_failed'],
    }),
    detail: Type.String({ description: 'What happened this time and how to mend it.' }),
    requestId: Type.String({ description: 'Quote this when you ask for help; it is in the log.' }),
    errors: Type.Optional(
      Type.Array(Type.Unsafe<{ path: string; code: string; message: string }>({ $ref: 'Mistake#' }), {
        maxItems: 100,
        description: 'All mistakes of the part that failed, at most 100.',
      }),
    ),
    errorsOmitted: Type.Optional(Type.Integer({ description: 'How many more mistakes there were.' })),
    requiredScope: Type.Optional(Type.String({ description: 'The scope the key lacks.' })),
    runId: Type.Optional(Type.String({ description: 'The sync run that is in the way.' })),
    retryAt: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        description: 'When that run goes on, while the code host makes it wait.',
      }),
    ),
  },
  { $id: 'Problem', description: 'An error, as RFC 9457 has it.' },
)

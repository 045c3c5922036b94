import { Type } from '@sinclair/typebox'
import { Claim } from './claim.ts'

export const FieldError = Type.Object(
  {
    path: Type.String({
      description:
        'Where the error is: a JSON Pointer into the body, or a name such as `query.limit`, `path.id` or `header.if-match`.',
      examples: ['/tasks/3/title'],
    }),
    code: Type.String({ description: 'The error code.', examples: ['too_long'] }),
    message: Type.String({ description: 'What is invalid, and what is expected.' }),
  },
  { $id: 'FieldError', description: 'An invalid field of a request.' },
)

export const Problem = Type.Object(
  {
    type: Type.String({
      description: 'The URL of an explanation.',
      examples: ['/problems/validation_failed'],
    }),
    title: Type.String({ description: 'A short summary of the error.' }),
    status: Type.Integer({ description: 'The HTTP status.' }),
    code: Type.String({
      description: 'The error code. Use it to handle errors in code.',
      examples: ['validation_failed'],
    }),
    detail: Type.String({ description: 'What happened in this case, and how to fix it.' }),
    requestId: Type.String({ description: 'The ID of the request. It is also in the log.' }),
    errors: Type.Optional(
      Type.Array(Type.Unsafe<{ path: string; code: string; message: string }>({ $ref: 'FieldError#' }), {
        maxItems: 100,
        description: 'The validation errors, at most 100.',
      }),
    ),
    errorsOmitted: Type.Optional(Type.Integer({ description: 'The number of further errors.' })),
    requiredScope: Type.Optional(Type.String({ description: 'The scope that the key lacks.' })),
    runId: Type.Optional(Type.String({ description: 'The sync run in progress.' })),
    retryAt: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        description: 'When that run resumes, if it is rate limited.',
      }),
    ),
    cycle: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 100,
        description:
          'Tasks that would block each other: each is blocked by the next, and the last by the first. At most 100.',
      }),
    ),
    claim: Type.Optional(Claim),
  },
  { $id: 'Problem', description: 'An error in the format of RFC 9457.' },
)

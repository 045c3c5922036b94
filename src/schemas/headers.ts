import { Type } from '@sinclair/typebox'

export const IdempotencyKey = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'A unique key for this request, 1 to 255 characters. If you repeat the request within 24 hours with the same key and body, Inlet returns the first response (`Idempotency-Replayed: true`) and does nothing else.',
      examples: ['3f1c8a52-6a0e-4a43-9a6e-0f6f0a3c5b11'],
    }),
  ),
})

export const IfMatch = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      maxLength: 1000,
      description:
        'The ETag of the version that you read. If the resource has changed since, nothing is written and the response is 412.',
      examples: ['"3"'],
    }),
  ),
})

export const IfNoneMatch = Type.Object({
  'if-none-match': Type.Optional(
    Type.String({
      maxLength: 1000,
      description:
        'The ETag of the response that you have. If nothing has changed since, the response is 304.',
    }),
  ),
})

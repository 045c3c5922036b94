import { Type } from '@sinclair/typebox'

export const IdempotencyKey = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'Your own name for this request, 1 to 255 characters. Sent again within 24 hours with the same body, it is answered as before (`Idempotency-Replayed: true`) and done once.',
      examples: ['3f1c8a52-6a0e-4a43-9a6e-0f6f0a3c5b11'],
    }),
  ),
})

export const IfMatch = Type.Object({
  'if-match': Type.Optional(
    Type.String({
      maxLength: 1000,
      description: 'The ETag you read. When it has changed since, nothing is written and the answer is 412.',
      examples: ['"3"'],
    }),
  ),
})

export const IfNoneMatch = Type.Object({
  'if-none-match': Type.Optional(
    Type.String({
      maxLength: 1000,
      description: 'The ETag of the response you have. The response is 304 while nothing changed.',
    }),
  ),
})

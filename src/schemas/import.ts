import { type Static, Type } from '@sinclair/typebox'

export const ImportResult = Type.Object(
  {
    counts: Type.Record(Type.String(), Type.Integer({ minimum: 0, description: 'How many were imported.' }), {
      description: 'The number of lines of each kind.',
      examples: [{ project: 3, list: 9, task: 1204 }],
    }),
  },
  { $id: 'ImportResult', description: 'What was imported.' },
)
export type ImportResult = Static<typeof ImportResult>

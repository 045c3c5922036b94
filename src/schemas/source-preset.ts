import { type Static, Type } from '@sinclair/typebox'
import { PageOf, ref, StringEnum } from './parts.ts'
import { Source, SourceTemplate } from './source.ts'

const { clears, each, filter, mapping, verify } = Source.properties

export const SourcePreset = Type.Object(
  {
    id: Type.String({ description: 'The ID of the preset.' }),
    name: Type.String({ description: 'The name of the sender.' }),
    description: Type.String({ description: 'Which tasks it makes.' }),
    secretFrom: StringEnum(['sender', 'inlet'], {
      description: 'Who makes the secret: pass the sender’s as `secret`, or let one be created.',
    }),
    verify,
    mapping,
    each,
    filter,
    template: ref(SourceTemplate),
    clears,
    example: Type.Object(
      {},
      {
        additionalProperties: true,
        description: 'A payload that it makes tasks of.',
      },
    ),
  },
  { $id: 'SourcePreset', description: 'A ready-made source.' },
)
export type SourcePreset = Static<typeof SourcePreset>

export const SourcePresetPage = PageOf(ref(SourcePreset), { description: 'All presets.' })

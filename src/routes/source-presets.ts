import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { responses } from '../schemas/responses.ts'
import { SourcePresetPage } from '../schemas/source-preset.ts'
import type { Services } from '../services/index.ts'
import { sourceOperations } from '../services/sources/index.ts'

/** Ready-made sources. */
export const sourcePresetsRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'sources'>> = async (
  app,
  { sources },
) => {
  app.get(
    '',
    {
      config: { operation: sourceOperations.listPresets },
      schema: {
        tags: ['Sources'],
        operationId: 'listSourcePresets',
        summary: 'List source presets',
        description:
          'Returns ready-made sources. Create one with its `verify`, `each`, `filter`, and `template`, and change what you need.',
        response: { 200: responses(SourcePresetPage, { description: 'All presets, on one page.' }) },
      },
    },
    async () => sources.listPresets(),
  )
}

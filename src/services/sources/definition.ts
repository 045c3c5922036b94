import type { SourceDefinition } from '../../domain/sources/templates.ts'
import type { SourceRow } from '../../repositories/sources/sources.ts'
import type { SourceTemplate } from '../../schemas/source.ts'

/** What decides which tasks a payload of this source makes. */
export const definitionOf = ({
  each,
  filter,
  template,
}: Pick<SourceRow, 'each' | 'filter' | 'template'>): SourceDefinition => ({
  each,
  filter,
  template: asTemplate(template),
})

/** Cast: the schema of the API accepts nothing else, so the column contains nothing else. */
export const asTemplate = (json: unknown) => json as SourceTemplate

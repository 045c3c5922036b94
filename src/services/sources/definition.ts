import type { SourceDefinition } from '../../domain/sources/templates.ts'
import type { SourceRow } from '../../repositories/sources/sources.ts'
import type { ClearableMember, SourceTemplate } from '../../schemas/source.ts'

/** What decides which tasks a payload of this source makes. */
export const definitionOf = ({
  each,
  filter,
  template,
  clears,
}: Pick<SourceRow, 'each' | 'filter' | 'template' | 'clears'>): SourceDefinition => {
  const templates = asTemplate(template)
  if (!templates) throw new Error('A source without templates has no definition.')
  return { each, filter, template: templates, clears: asClears(clears) }
}

/** Cast: the schema of the API accepts nothing else, so the column contains nothing else. */
export const asTemplate = (json: unknown) => json as Required<SourceTemplate> | null

/** Cast: as above. */
export const asClears = (names: string[]) => names as ClearableMember[]

import { type FieldError, validationFailed } from '../../errors/index.ts'
import type { ClearableMember, SourceMapping, SourceTemplate } from '../../schemas/source.ts'

export interface Mapped {
  mapping: SourceMapping
  listId?: string | null
  each: string | null
  filter: string | null
  template: SourceTemplate | null
  clears: ClearableMember[]
}

/**
 * Templates make tasks only with `template`; the events of the feedback receiver decide everything themselves.
 * @throws validation_failed
 */
export function refuseMapping({ mapping, clears, ...given }: Mapped): void {
  if (mapping === 'template') {
    if (given.template) return
    throw validationFailed([{ path: '/template', code: 'required', message: 'is required' }])
  }
  const message = 'is not supported with the mapping feedback: the event and the routing rules decide'
  const { each, filter, template, listId } = given
  const errors = Object.entries({ each, filter, template, clears: clears.length > 0, listId }).flatMap(
    ([name, value]): FieldError[] => (value ? [{ path: `/${name}`, code: 'not_allowed', message }] : []),
  )
  if (errors.length > 0) throw validationFailed(errors)
}

import { Checkbox, Textarea, TextInput } from '@mantine/core'
import { Fragment } from 'react'
import type { SourceDraft } from './source-draft.ts'
import type { Source } from './source-queries.ts'
import { MEMBERS, type Member } from './template-mapping.ts'

export interface SourceTemplatesProps {
  draft: SourceDraft
  /** By JSON Pointer. */
  errors: Record<string, string>
  onEdit(change: Partial<SourceDraft>): void
}

const CLEARABLE = [
  'description',
  'labels',
  'externalUrl',
] as const satisfies readonly Source['clears'][number][]

/** The Liquid that decides which tasks a payload makes. */
export function SourceTemplates({ draft, errors, onEdit }: SourceTemplatesProps) {
  return (
    <>
      <TextInput
        label="A task for each"
        description="Path to an array. Each of its items becomes a task, and is “item” in the templates."
        placeholder="payload.alerts"
        value={draft.each}
        error={errors['/each']}
        onChange={(event) => onEdit({ each: event.currentTarget.value })}
      />
      <TextInput
        label="Only if"
        description="A Liquid condition. If it isn't met, no task is created."
        placeholder='payload.action == "triggered"'
        value={draft.filter}
        error={errors['/filter']}
        onChange={(event) => onEdit({ filter: event.currentTarget.value })}
      />
      {MEMBERS.map(({ member, label, description }) => (
        <Fragment key={member}>
          <Textarea
            label={label}
            description={description}
            autosize
            minRows={1}
            maxRows={8}
            spellCheck={false}
            value={draft.template[member]}
            error={errors[`/template/${member}`]}
            onChange={(event) =>
              onEdit({ template: { ...draft.template, [member]: event.currentTarget.value } })
            }
          />
          <Clearing draft={draft} member={member} label={label} onEdit={onEdit} />
        </Fragment>
      ))}
    </>
  )
}

interface ClearingProps extends Pick<SourceTemplatesProps, 'draft' | 'onEdit'> {
  member: Member
  label: string
}

/** Whether a member that renders nothing is removed from the task. Nothing for those that a task always has. */
function Clearing({ draft, member, label, onEdit }: ClearingProps) {
  const clearable = CLEARABLE.find((name) => name === member)
  if (!clearable || draft.template[member].trim() === '') return null
  const others = draft.clears.filter((name) => name !== clearable)
  return (
    <Checkbox
      label={`Clear “${label}” when this renders nothing`}
      checked={draft.clears.includes(clearable)}
      onChange={(event) => onEdit({ clears: event.currentTarget.checked ? [...others, clearable] : others })}
    />
  )
}

import { Textarea, TextInput } from '@mantine/core'
import type { Problem } from '../api/problem.ts'
import type { SourceDraft } from './source-draft.ts'

interface SourceTemplatesProps {
  draft: SourceDraft
  problem: Problem | undefined
  onEdit(change: Partial<SourceDraft>): void
}

type Member = keyof SourceDraft['template']

const MEMBERS: { member: Member; label: string; description?: string }[] = [
  { member: 'title', label: 'Title' },
  { member: 'description', label: 'Description', description: 'In Markdown.' },
  { member: 'priority', label: 'Priority', description: 'low, medium, or high.' },
  { member: 'labels', label: 'Labels', description: 'Separated by commas.' },
  {
    member: 'externalId',
    label: 'External ID',
    description: 'What the task is about. A delivery with a known one updates its task.',
  },
  { member: 'externalUrl', label: 'External URL' },
  { member: 'status', label: 'Status', description: 'open reopens a done task, done completes one.' },
]

/** The fields that decide which tasks a payload makes. */
export function SourceTemplates({ draft, problem, onEdit }: SourceTemplatesProps) {
  return (
    <>
      <TextInput
        label="A task for each"
        description="The path to an array. Its items are “item”."
        placeholder="payload.alerts"
        value={draft.each}
        error={problem?.byField['/each']}
        onChange={(event) => onEdit({ each: event.currentTarget.value })}
      />
      <TextInput
        label="Only if"
        placeholder='payload.action == "triggered"'
        value={draft.filter}
        error={problem?.byField['/filter']}
        onChange={(event) => onEdit({ filter: event.currentTarget.value })}
      />
      {MEMBERS.map(({ member, label, description }) => (
        <Textarea
          key={member}
          label={label}
          description={description}
          autosize
          minRows={1}
          maxRows={8}
          spellCheck={false}
          value={draft.template[member]}
          error={problem?.byField[`/template/${member}`]}
          onChange={(event) =>
            onEdit({ template: { ...draft.template, [member]: event.currentTarget.value } })
          }
        />
      ))}
    </>
  )
}

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
  { member: 'description', label: 'Description', description: 'Markdown.' },
  { member: 'priority', label: 'Priority', description: '“low”, “medium”, or “high”.' },
  { member: 'labels', label: 'Labels', description: 'Separated by commas.' },
  {
    member: 'externalId',
    label: 'External ID',
    description: 'Identifies the task. A later delivery with the same ID updates it.',
  },
  { member: 'externalUrl', label: 'External URL' },
  { member: 'status', label: 'Status', description: '“open” reopens a done task. “done” completes it.' },
]

/** The fields that decide which tasks a payload makes. */
export function SourceTemplates({ draft, problem, onEdit }: SourceTemplatesProps) {
  return (
    <>
      <TextInput
        label="A task for each"
        description="Path to an array. Each of its items becomes a task, and is “item” in the templates."
        placeholder="payload.alerts"
        value={draft.each}
        error={problem?.byField['/each']}
        onChange={(event) => onEdit({ each: event.currentTarget.value })}
      />
      <TextInput
        label="Only if"
        description="A Liquid condition. If it isn't met, no task is created."
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

import { Modal, NumberInput, Select, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import { projectsQuery, type Rule } from '../api/queries.ts'
import { FormEnd } from '../components/form-end.tsx'
import { useDraft } from '../components/use-draft.ts'
import { useFormDraft } from '../components/use-form-draft.ts'
import { useIdempotentSend } from '../components/use-idempotent-send.ts'
import { useMutation } from '../components/use-mutation.ts'
import { useMe } from '../session/session.ts'

const STALE =
  'Someone else changed this instruction. Save again to overwrite their version, which is kept in the history.'

interface Fields {
  content: string
  priority: number | string
  /** One on each line. */
  globs: string
  scope: string | null
}

interface RuleDialogProps {
  rule: Rule | undefined
  projectId: string | undefined
  onClose(): void
}

export function RuleDialog({ rule, projectId, onClose }: RuleDialogProps) {
  const { me } = useMe()
  const { data: projects = [] } = useQuery(projectsQuery)
  const { mutate, isBusy } = useMutation('rules', 'context')
  const name = rule?.id ?? 'new'
  const draft = useFormDraft<Fields>(`rule:${name}`, {
    content: rule?.content ?? '',
    priority: rule?.priority ?? 0,
    globs: rule?.paths.join('\n') ?? '',
    scope: projectId ?? null,
  })
  // The version that the draft is based on; the draft can outlive it.
  const [baseVersion = rule?.version, setBaseVersion] = useDraft(`rule-version:${name}`)
  const sendOnce = useIdempotentSend(`rule:${name}`)
  const { content, priority, globs, scope } = draft.values
  const [problem, setProblem] = useState<Problem>()
  const isStale = problem?.status === 412

  function change(fields: Partial<Fields>) {
    if (rule && !draft.isDraft) setBaseVersion(String(rule.version))
    draft.change(fields)
  }

  function discard() {
    draft.discard()
    setBaseVersion(undefined)
  }

  async function save(event: FormEvent) {
    event.preventDefault()
    if (isBusy) return
    if (rule && !draft.isDraft) return onClose()
    const paths = globs
      .split('\n')
      .map((glob) => glob.trim())
      .filter(Boolean)
    const body = { content: content.trim(), priority: Number(priority) || 0, paths }
    await mutate('', async () => {
      try {
        if (rule) {
          // After a conflict was shown, saving again overwrites.
          const header = isStale ? {} : { 'if-match': `"${baseVersion}"` }
          await dataOf(api.PATCH('/api/rules/{id}', { params: { path: { id: rule.id }, header }, body }))
        } else {
          const added = { ...body, projectId: scope }
          await sendOnce(added, (header) =>
            dataOf(api.POST('/api/rules', { params: { header }, body: added })),
          )
        }
        discard()
        onClose()
      } catch (error) {
        setProblem(problemOf(error))
      }
    })
  }

  return (
    <Modal
      opened
      onClose={onClose}
      closeOnClickOutside={false}
      size="lg"
      title={rule ? 'Edit instruction' : 'Add instruction'}
    >
      <form onSubmit={save} className="stack">
        <Textarea
          label="Instruction"
          description="Markdown supported."
          data-autofocus
          required
          autosize
          minRows={4}
          maxRows={16}
          maxLength={8_000}
          value={content}
          error={problem?.byField['/content']}
          onChange={(event) => change({ content: event.currentTarget.value })}
        />
        <div className="row" style={{ alignItems: 'flex-start' }}>
          <NumberInput
            label="Priority"
            description="Higher comes first."
            hideControls
            value={priority}
            onChange={(priority) => change({ priority })}
            style={{ flex: 1 }}
          />
          {!rule && (
            <Select
              label="Applies to"
              description="Sent to assistants that work on this project."
              placeholder="All projects"
              clearable={me?.projectIds === null}
              data={projects.map(({ id, name }) => ({ value: id, label: name }))}
              value={scope}
              onChange={(scope) => change({ scope })}
              style={{ flex: 2 }}
            />
          )}
        </div>
        <Textarea
          label="Only for files"
          description="One glob on each line, such as src/**/*.ts. Leave empty for an instruction that always applies."
          autosize
          minRows={1}
          maxRows={6}
          value={globs}
          error={globError(problem)}
          onChange={(event) => change({ globs: event.currentTarget.value })}
        />
        <FormEnd
          // The version tells.
          draft={{ isDraft: draft.isDraft, isOutdated: false, discard }}
          verb={isStale ? 'Save mine' : rule ? 'Save instruction' : 'Add instruction'}
          error={isStale ? STALE : problem?.message}
          isBusy={isBusy}
          isDisabled={content.trim() === ''}
          onClose={onClose}
        />
      </form>
    </Modal>
  )
}

/** The errors of the globs, counted without empty lines. */
function globError(problem: Problem | undefined): string | undefined {
  const errors = Object.entries(problem?.byField ?? {}).flatMap(([path, message]) => {
    const [, index] = /^\/paths\/(\d+)$/.exec(path) ?? []
    if (index !== undefined) return `Glob ${Number(index) + 1} ${message}`
    return path === '/paths' ? message : []
  })
  return errors.length > 0 ? errors.join('. ') : undefined
}

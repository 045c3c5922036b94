import { Button, Modal, NumberInput, Select, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import { projectsQuery, type Rule } from '../api/queries.ts'
import { ErrorText } from '../components/error-text.tsx'
import { useDraft } from '../components/use-draft.ts'
import { useIdempotentSend } from '../components/use-idempotent-send.ts'
import { useMutation } from '../components/use-mutation.ts'
import { useMe } from '../session/session.ts'

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
  const [draft, setDraft] = useDraft(`rule:${name}`)
  // The version that the draft is based on; the draft can outlive it.
  const [baseVersion = rule?.version, setBaseVersion] = useDraft(`rule-version:${name}`)
  const sendOnce = useIdempotentSend(`rule:${name}`)
  const content = draft ?? rule?.content ?? ''
  const [priority, setPriority] = useState<number | string>(rule?.priority ?? 0)
  const [scope, setScope] = useState<string | null>(projectId ?? null)
  const [globs, setGlobs] = useState(rule?.paths.join('\n') ?? '')
  const [problem, setProblem] = useState<Problem>()
  const isStale = problem?.status === 412

  function updateDraft(text: string) {
    if (rule && draft === undefined) setBaseVersion(String(rule.version))
    setDraft(text)
  }

  function discard() {
    setDraft(undefined)
    setBaseVersion(undefined)
    onClose()
  }

  async function save(event: FormEvent) {
    event.preventDefault()
    if (isBusy) return
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
          onChange={(event) => updateDraft(event.currentTarget.value)}
        />
        <div className="row" style={{ alignItems: 'flex-start' }}>
          <NumberInput
            label="Priority"
            description="Higher comes first."
            hideControls
            value={priority}
            onChange={setPriority}
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
              onChange={setScope}
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
          onChange={(event) => setGlobs(event.currentTarget.value)}
        />
        {problem && (
          <ErrorText>
            {isStale
              ? 'Someone else changed this instruction. Save again to overwrite their version, which is kept in the history.'
              : problem.message}
          </ErrorText>
        )}
        <div className="row">
          <Button type="submit" loading={isBusy} disabled={content.trim() === ''}>
            {isStale ? 'Save mine' : rule ? 'Save instruction' : 'Add instruction'}
          </Button>
          <Button variant="default" onClick={discard}>
            {draft === undefined ? 'Cancel' : 'Discard'}
          </Button>
        </div>
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

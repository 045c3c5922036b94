import { Modal } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import { FormEnd } from '../components/form-end.tsx'
import { useFormDraft } from '../components/use-form-draft.ts'
import { useMutation } from '../components/use-mutation.ts'
import { type Access, AccessFields, isComplete } from './access-fields.tsx'
import type { User } from './people-text.ts'

interface AccessDialogProps {
  user: User
  onClose(): void
}

/** Changes the role and the projects of a person. */
export function AccessDialog({ user, onClose }: AccessDialogProps) {
  const { mutate, isBusy } = useMutation('users', 'me')
  const { role, projectIds } = user
  const draft = useFormDraft<Access>(`access:${user.id}`, { role, projectIds })
  const [problem, setProblem] = useState<Problem>()

  async function save(event: FormEvent) {
    event.preventDefault()
    if (!draft.isDraft) return onClose()
    setProblem(undefined)
    const params = { path: { id: user.id } }
    // Both: what one of them means depends on the other.
    const { role, projectIds } = draft.values
    const saved = await mutate('', () =>
      dataOf(api.PATCH('/api/users/{id}', { params, body: { role, projectIds } })).catch((error) => {
        setProblem(problemOf(error))
        return undefined
      }),
    )
    if (!saved) return
    draft.discard()
    onClose()
  }

  return (
    <Modal opened onClose={onClose} title={`Access of ${user.name}`}>
      <form onSubmit={save} className="stack">
        <AccessFields access={draft.values} problem={problem} onChange={draft.change} />
        <FormEnd
          draft={draft}
          verb="Save access"
          error={problem?.message}
          isBusy={isBusy}
          isDisabled={!isComplete(draft.values)}
          onClose={onClose}
        />
      </form>
    </Modal>
  )
}

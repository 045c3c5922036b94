import { Button, Modal } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import { ErrorText } from '../components/error-text.tsx'
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
  const [access, setAccess] = useState<Access>({ role: user.role, projectIds: user.projectIds })
  const [problem, setProblem] = useState<Problem>()

  async function save(event: FormEvent) {
    event.preventDefault()
    setProblem(undefined)
    const saved = await mutate('', () =>
      dataOf(api.PATCH('/api/users/{id}', { params: { path: { id: user.id } }, body: access })).catch(
        (error) => {
          setProblem(problemOf(error))
          return undefined
        },
      ),
    )
    if (saved) onClose()
  }

  return (
    <Modal opened onClose={onClose} title={`Access of ${user.name}`}>
      <form onSubmit={save} className="stack">
        <AccessFields access={access} problem={problem} onChange={setAccess} />
        {problem && <ErrorText>{problem.message}</ErrorText>}
        <div className="row">
          <Button type="submit" loading={isBusy} disabled={!isComplete(access)}>
            Save access
          </Button>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
        </div>
      </form>
    </Modal>
  )
}

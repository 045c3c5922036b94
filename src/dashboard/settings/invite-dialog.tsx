import { Button, Modal, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { api, dataOf, type Schema } from '../api/client.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import { ErrorText } from '../components/error-text.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { type Access, AccessFields, isComplete } from './access-fields.tsx'

interface InviteDialogProps {
  onClose(): void
  onCreated(invite: Schema<'InviteWithSecret'>): void
}

export function InviteDialog({ onClose, onCreated }: InviteDialogProps) {
  const { mutate, isBusy } = useMutation('invites')
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [access, setAccess] = useState<Access>({ role: 'member', projectIds: null })
  const [problem, setProblem] = useState<Problem>()

  async function invite(event: FormEvent) {
    event.preventDefault()
    const created = await mutate('', () =>
      dataOf(
        api.POST('/api/invites', {
          body: { name: name.trim(), ...(email.trim() && { email: email.trim() }), ...access },
        }),
      ).catch((error) => {
        setProblem(problemOf(error))
        return undefined
      }),
    )
    if (created) onCreated(created)
  }

  return (
    <Modal opened onClose={onClose} closeOnClickOutside={false} title="Invite a person">
      <form onSubmit={invite} className="stack">
        <TextInput
          label="Name"
          placeholder="Ada Lovelace"
          data-autofocus
          required
          maxLength={100}
          value={name}
          error={problem?.byField['/name']}
          onChange={(event) => setName(event.currentTarget.value)}
          autoComplete="off"
        />
        <TextInput
          label="Email"
          description="Optional"
          type="email"
          maxLength={254}
          value={email}
          error={problem?.byField['/email']}
          onChange={(event) => setEmail(event.currentTarget.value)}
          autoComplete="off"
        />
        <AccessFields access={access} problem={problem} onChange={setAccess} />
        {problem && <ErrorText>{problem.message}</ErrorText>}
        <div>
          <Button type="submit" loading={isBusy} disabled={name.trim() === '' || !isComplete(access)}>
            Create invite
          </Button>
        </div>
      </form>
    </Modal>
  )
}

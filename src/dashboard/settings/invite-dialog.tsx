import { Modal, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { api, dataOf, type Schema } from '../api/client.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import { FormEnd } from '../components/form-end.tsx'
import { useFormDraft } from '../components/use-form-draft.ts'
import { useMutation } from '../components/use-mutation.ts'
import { type Access, AccessFields, isComplete } from './access-fields.tsx'

interface InviteDialogProps {
  onClose(): void
  onCreated(invite: Schema<'InviteWithSecret'>): void
}

interface Fields {
  name: string
  email: string
  access: Access
}

export function InviteDialog({ onClose, onCreated }: InviteDialogProps) {
  const { mutate, isBusy } = useMutation('invites')
  const draft = useFormDraft<Fields>('invite', {
    name: '',
    email: '',
    access: { role: 'member', projectIds: null },
  })
  const { name, email, access } = draft.values
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
    if (!created) return
    draft.discard()
    onCreated(created)
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
          onChange={(event) => draft.change({ name: event.currentTarget.value })}
          autoComplete="off"
        />
        <TextInput
          label="Email"
          description="Optional"
          type="email"
          maxLength={254}
          value={email}
          error={problem?.byField['/email']}
          onChange={(event) => draft.change({ email: event.currentTarget.value })}
          autoComplete="off"
        />
        <AccessFields access={access} problem={problem} onChange={(access) => draft.change({ access })} />
        <FormEnd
          draft={draft}
          verb="Create invite"
          error={problem?.message}
          isBusy={isBusy}
          isDisabled={name.trim() === '' || !isComplete(access)}
          onClose={onClose}
        />
      </form>
    </Modal>
  )
}

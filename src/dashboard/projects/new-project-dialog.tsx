import { Modal, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { api, dataOf } from '../api/client.ts'
import { problemOf } from '../api/problem.ts'
import { FormEnd } from '../components/form-end.tsx'
import { useFormDraft } from '../components/use-form-draft.ts'
import { useIdempotentSend } from '../components/use-idempotent-send.ts'
import { useMutation } from '../components/use-mutation.ts'

const NOTHING = { name: '' }

export default function NewProjectDialog({ onClose }: { onClose(): void }) {
  const [, navigate] = useLocation()
  const { mutate, isBusy } = useMutation('projects')
  const sendOnce = useIdempotentSend('project')
  const draft = useFormDraft('new-project', NOTHING)
  const { name } = draft.values
  const [errorMessage, setErrorMessage] = useState<string>()

  async function create(event: FormEvent) {
    event.preventDefault()
    await mutate('', async () => {
      try {
        const body = { name: name.trim() }
        const project = await sendOnce(body, (header) =>
          dataOf(api.POST('/api/projects', { params: { header }, body })),
        )
        draft.discard()
        onClose()
        navigate(`/projects/${project.id}`)
      } catch (error) {
        setErrorMessage(problemOf(error).message)
      }
    })
  }

  return (
    <Modal opened onClose={onClose} title="New project">
      <form onSubmit={create} className="stack">
        <TextInput
          label="Name"
          data-autofocus
          required
          maxLength={100}
          value={name}
          error={errorMessage}
          onChange={(event) => draft.change({ name: event.currentTarget.value })}
        />
        <FormEnd
          draft={draft}
          verb="Create project"
          error={undefined}
          isBusy={isBusy}
          isDisabled={name.trim() === ''}
          onClose={onClose}
        />
      </form>
    </Modal>
  )
}

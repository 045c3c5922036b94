import { Button, Modal, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { api, dataOf } from '../api/client.ts'
import { problemOf } from '../api/problem.ts'
import { useIdempotentSend } from '../components/use-idempotent-send.ts'
import { useMutation } from '../components/use-mutation.ts'

export default function NewProjectDialog({ onClose }: { onClose(): void }) {
  const [, navigate] = useLocation()
  const { mutate, isBusy } = useMutation('projects')
  const sendOnce = useIdempotentSend('project')
  const [name, setName] = useState('')
  const [errorMessage, setErrorMessage] = useState<string>()

  async function create(event: FormEvent) {
    event.preventDefault()
    await mutate('', async () => {
      try {
        const body = { name: name.trim() }
        const project = await sendOnce(body, (header) =>
          dataOf(api.POST('/api/projects', { params: { header }, body })),
        )
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
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <div>
          <Button type="submit" loading={isBusy} disabled={name.trim() === ''}>
            Create project
          </Button>
        </div>
      </form>
    </Modal>
  )
}

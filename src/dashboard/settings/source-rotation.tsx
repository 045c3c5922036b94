import { Button, Modal, Switch, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import { ErrorText } from '../components/error-text.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { isolate } from '../lib/isolate.ts'
import type { Source, SourceWithSecret } from './source-queries.ts'

interface SourceRotationProps {
  source: Source
  onClose(): void
  onRotated(source: SourceWithSecret): void
}

/** Replaces the secret of a source: by a new one, or by one that the sender shows. */
export function SourceRotation({ source, onClose, onRotated }: SourceRotationProps) {
  const { mutate, isBusy } = useMutation('sources')
  const [text, setText] = useState('')
  const [isOverlapping, setOverlapping] = useState(true)
  const [problem, setProblem] = useState<Problem>()

  async function rotate(event: FormEvent) {
    event.preventDefault()
    const secret = text.trim()
    const body = { ...(secret && { secret }), ...(!isOverlapping && { overlapSeconds: 0 }) }
    await mutate('', async () => {
      try {
        const params = { path: { id: source.id } }
        onRotated(await dataOf(api.POST('/api/sources/{id}/rotate', { params, body })))
        onClose()
      } catch (error) {
        setProblem(problemOf(error))
      }
    })
  }

  return (
    <Modal opened onClose={onClose} title={`Rotate the secret of “${isolate(source.name)}”`}>
      <form onSubmit={rotate} className="stack">
        <TextInput
          label="Secret of the sender"
          description="If the sender shows you a secret, paste it. Otherwise, leave this empty to create one."
          data-autofocus
          autoComplete="off"
          value={text}
          error={problem?.byField['/secret']}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Switch
          label="Accept the previous secret for one more day"
          checked={isOverlapping}
          onChange={(event) => setOverlapping(event.currentTarget.checked)}
        />
        {problem && <ErrorText>{problem.message}</ErrorText>}
        <div className="row">
          <Button type="submit" loading={isBusy}>
            Rotate secret
          </Button>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
        </div>
      </form>
    </Modal>
  )
}

import { Button, Modal } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { problemOf } from '../api/problem.ts'
import { ErrorText } from './error-text.tsx'

interface ConfirmProps {
  title: string
  verb: string
  children: ReactNode
  onConfirm(): Promise<unknown>
  onClose(): void
}

/** Asks before what cannot be taken back. */
export function Confirm({ title, verb, children, onConfirm, onClose }: ConfirmProps) {
  const [mistake, setMistake] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  async function confirm() {
    setBusy(true)
    try {
      await onConfirm()
      onClose()
    } catch (error) {
      setMistake(problemOf(error).message)
      setBusy(false)
    }
  }
  return (
    <Modal opened onClose={onClose} title={title}>
      <div className="stack">
        <div>{children}</div>
        {mistake && <ErrorText>{mistake}</ErrorText>}
        <div className="row">
          <Button color="red.8" onClick={() => void confirm()} loading={isBusy}>
            {verb}
          </Button>
          <Button variant="default" onClick={onClose} data-autofocus>
            Cancel
          </Button>
        </div>
      </div>
    </Modal>
  )
}

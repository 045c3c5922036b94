import { Button, Modal } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { problemOf } from '../api/problem.ts'
import { ErrorText } from './error-text.tsx'

interface ConfirmDialogProps {
  title: string
  verb: string
  /** Of the button. */
  color?: string
  children: ReactNode
  onConfirm(): Promise<unknown>
  onClose(): void
}

/** Confirms an action that is irreversible, or large. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, verb, color = 'red.8', children, onConfirm, onClose } = props
  const [errorMessage, setErrorMessage] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  async function confirm() {
    setBusy(true)
    try {
      await onConfirm()
      onClose()
    } catch (error) {
      setErrorMessage(problemOf(error).message)
      setBusy(false)
    }
  }
  return (
    <Modal opened onClose={onClose} title={title}>
      <div className="stack">
        <div>{children}</div>
        {errorMessage && <ErrorText>{errorMessage}</ErrorText>}
        <div className="row">
          <Button color={color} onClick={() => void confirm()} loading={isBusy}>
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

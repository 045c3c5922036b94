import { Button } from '@mantine/core'

export const undoButton = (message: string, undo: () => void) => (
  <span className="row">
    <span className="breakable">{message}</span>
    <Button size="compact-sm" variant="subtle" onClick={undo} className="push">
      Undo
    </Button>
  </span>
)

import { Kbd, Modal } from '@mantine/core'
import styles from './help-dialog.module.css'

const SHORTCUTS: [string[], string][] = [
  [['Ctrl K'], 'Command palette: go to a page, change tasks, find a task'],
  [['c'], 'New task'],
  [['Ctrl Enter'], 'Create the task (in the dialog)'],
  [['/'], 'Search tasks'],
  [['j', 'k'], 'Next or previous task (also the arrow keys in the list)'],
  [['Enter'], 'Open task'],
  [['e'], 'Mark done or reopen'],
  [['s'], 'Set status'],
  [['p'], 'Set priority'],
  [['l'], 'Add or remove a label'],
  [['a'], 'Add or remove an assignee'],
  [['v'], 'Move to another list'],
  [['x'], 'Select task'],
  [['Shift ↓', 'Shift ↑', 'J', 'K'], 'Extend the selection'],
  [['Ctrl A'], 'Select all loaded tasks'],
  [['m'], 'Comment on the open task'],
  [['d'], 'Merge into another task (of an open task: with the first similar one)'],
  [['#'], 'Delete task'],
  [['z'], 'Undo the last action'],
  [['r'], 'Restore task (in the trash)'],
  [['Esc'], 'Clear selection, close task'],
  [['?'], 'Show keyboard shortcuts'],
]

export default function HelpDialog({ onClose }: { onClose(): void }) {
  return (
    <Modal opened onClose={onClose} title="Keyboard shortcuts">
      <dl className={styles.keys}>
        {SHORTCUTS.map(([keys, description]) => (
          <div key={description}>
            <dt>
              {keys.map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
            </dt>
            <dd>{description}</dd>
          </div>
        ))}
      </dl>
    </Modal>
  )
}

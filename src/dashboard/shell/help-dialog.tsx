import { Kbd, Modal } from '@mantine/core'
import styles from './help-dialog.module.css'

const SHORTCUTS: [string[], string][] = [
  [['c'], 'Create a task'],
  [['/'], 'Search tasks'],
  [['j', 'k'], 'Next and previous task; so do the arrow keys within the list'],
  [['Enter'], 'Open the task'],
  [['e'], 'Mark it done, or open it again'],
  [['x'], 'Select it'],
  [['#'], 'Delete it'],
  [['z'], 'Undo what was done last, then what came before'],
  [['r'], 'Restore it, in the trash'],
  [['Esc'], 'Close the panel, clear the selection'],
  [['?'], 'Show this help'],
]

export default function HelpDialog({ onClose }: { onClose(): void }) {
  return (
    <Modal opened onClose={onClose} title="Keyboard">
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
      <p className="quiet small">Everything is also a button; nothing needs these keys.</p>
    </Modal>
  )
}

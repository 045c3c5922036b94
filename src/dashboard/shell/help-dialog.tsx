import { Kbd, Modal } from '@mantine/core'
import styles from './help-dialog.module.css'

const SHORTCUTS: [string[], string][] = [
  [['c'], 'New task'],
  [['/'], 'Search tasks'],
  [['j', 'k'], 'Next or previous task (also the arrow keys in the list)'],
  [['Enter'], 'Open task'],
  [['e'], 'Mark done or reopen'],
  [['x'], 'Select task'],
  [['m'], 'Comment on the open task'],
  [['d'], 'Merge the open feedback with the first similar task'],
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

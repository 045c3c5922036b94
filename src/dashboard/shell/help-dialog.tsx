import { Kbd, Modal, Switch } from '@mantine/core'
import { useSingleKeys } from '../keyboard/use-single-keys.ts'
import styles from './help-dialog.module.css'

/** Keys, and what they do. */
type Shortcut = [string[], string]

const GROUPS: { title: string; shortcuts: Shortcut[] }[] = [
  {
    title: 'Everywhere',
    shortcuts: [
      [['Ctrl K'], 'Command palette: go, do, or find'],
      [['c'], 'New task'],
      [['Ctrl Enter'], 'Create the task (in its dialog)'],
      [['/'], 'Search tasks'],
      [['z'], 'Undo the last action'],
      [['?'], 'Show keyboard shortcuts'],
    ],
  },
  {
    title: 'Go to',
    shortcuts: [
      [['g', 't'], 'Triage'],
      [['g', 'o'], 'Overview'],
      [['g', 'm'], 'My work'],
      [['g', 'a'], 'All tasks'],
      [['g', 'n'], 'Notifications'],
      [['g', 'p'], 'A project'],
      [['g', 's'], 'Settings'],
      [['g', 'x'], 'Trash'],
    ],
  },
  {
    title: 'Pickers',
    shortcuts: [
      [['1', '–', '9'], 'Choose (digits are text after a space)'],
      [['Enter'], 'Choose (labels stay open)'],
      [['Esc'], 'Close'],
    ],
  },
  {
    title: 'Triage',
    shortcuts: [
      [['y'], 'Accept'],
      [['n'], 'Not planned'],
      [['h'], 'Snooze'],
      [['m'], 'Merge all that are equal'],
    ],
  },
  {
    title: 'List',
    shortcuts: [
      [['j', 'k'], 'Next, previous (also the arrow keys)'],
      [['Enter'], 'Open'],
      [['x'], 'Select'],
      [['J', 'K'], 'Extend the selection (Shift and arrows)'],
      [['Ctrl A'], 'Select all loaded tasks'],
      [['f'], 'Filter'],
      [['Esc'], 'Clear the selection, close the task'],
    ],
  },
  {
    title: 'Task',
    shortcuts: [
      [['e'], 'Mark done or reopen'],
      [['s'], 'Status'],
      [['p'], 'Priority'],
      [['l'], 'Labels'],
      [['a'], 'Assignees'],
      [['i'], 'Assign to me, or take me off'],
      [['v'], 'Move to another list'],
      [['d'], 'Merge into another task'],
      [['m'], 'Comment on the open task'],
      [['.'], 'Copy link'],
      [['#'], 'Delete'],
      [['r'], 'Restore (in the trash)'],
    ],
  },
]

export default function HelpDialog({ onClose }: { onClose(): void }) {
  const singleKeys = useSingleKeys()
  return (
    <Modal opened onClose={onClose} title="Keyboard shortcuts" size={820} yOffset={12}>
      <Switch
        label="Single-key shortcuts"
        description="Off: only keys with Ctrl, Enter, Esc and the arrows work, in this browser."
        checked={singleKeys.isOn}
        onChange={(event) => singleKeys.set(event.currentTarget.checked)}
      />
      <div className={styles.groups}>
        {GROUPS.map(({ title, shortcuts }) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl className={styles.keys}>
              {shortcuts.map(([keys, description]) => (
                <div key={description}>
                  <dt>
                    {keys.map((key) =>
                      key === '–' ? (
                        key
                      ) : (
                        <Kbd key={key} size="xs">
                          {key}
                        </Kbd>
                      ),
                    )}
                  </dt>
                  <dd>{description}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Modal>
  )
}

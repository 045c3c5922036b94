import { Menu } from '@mantine/core'
import { firstCharacters } from '../lib/first-characters.ts'
import type { ShownValue } from './payload-nodes.ts'
import { inItem, pathText, valueAt } from './payload-path.ts'
import styles from './payload-tree.module.css'
import { canBeText, eachFor, templateFor, withEach } from './source-choices.ts'
import type { SourceDraft } from './source-draft.ts'
import { comparison, MEMBERS, type Member } from './template-mapping.ts'
import { distinctWords } from './value-words.ts'

/** Of a word. */
const MAX_SHOWN = 40

/** A value that was chosen, and where its row is. */
export interface Chosen {
  value: ShownValue
  top: number
  left: number
}

interface ValueMenuProps {
  chosen: Chosen
  payload: unknown
  draft: SourceDraft
  onEdit(change: Partial<SourceDraft>): void
  onClose(): void
}

/** What a value of the example can become. */
export function ValueMenu({ chosen, payload, draft, onEdit, onClose }: ValueMenuProps) {
  const { each, template } = draft
  const path = inItem(chosen.value.path, each)
  const value = valueAt(payload, chosen.value.path.slice(1))
  const [word] = distinctWords([value])
  const array = eachFor(chosen.value.path, payload)
  const otherArray = array === each.trim() ? undefined : array

  const use = (member: Member) => () =>
    onEdit({
      template: { ...template, [member]: templateFor(member, { path: chosen.value.path, payload, draft }) },
    })

  return (
    <Menu opened onClose={onClose} position="bottom-start" width={270}>
      <Menu.Target>
        <span className={styles.anchor} style={{ top: chosen.top, left: chosen.left }} aria-hidden />
      </Menu.Target>
      <Menu.Dropdown
        mah="60vh"
        style={{ overflowY: 'auto', overflowWrap: 'anywhere' }}
        aria-label={`Use ${pathText(path)}`}
      >
        <Menu.Label>{pathText(path)}</Menu.Label>
        {canBeText(value) &&
          MEMBERS.map(({ member, label }) => (
            <Menu.Item
              key={member}
              onClick={use(member)}
              rightSection={<span className="small">{whatHappensTo(member, template[member])}</span>}
            >
              {label}
            </Menu.Item>
          ))}
        {word !== undefined && <Menu.Divider />}
        {word !== undefined && (
          <Menu.Item onClick={() => onEdit({ filter: comparison({ path, word }) })}>
            Only if this is{' '}
            {typeof word === 'string' ? `“${firstCharacters(word, MAX_SHOWN)}”` : String(word)}
          </Menu.Item>
        )}
        {otherArray && (
          <Menu.Item onClick={() => onEdit(withEach(draft, otherArray))}>
            A task for each of {otherArray}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}

/** What becomes of the present template of a member. */
function whatHappensTo(member: Member, template: string): string {
  if (template.trim() === '') return ''
  return member === 'labels' || member === 'description' ? 'added' : 'replaced'
}

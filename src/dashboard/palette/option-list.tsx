import { Kbd } from '@mantine/core'
import { CheckIcon } from '@primer/octicons-react'
import { type KeyboardEvent as ReactKeyboardEvent, useEffect, useId, useLayoutEffect, useState } from 'react'
import { isComposing, isEnter } from '../components/is-enter.ts'
import { discardKeys, holdKeys } from '../keyboard/key-queue.ts'
import { releaseKeys } from '../keyboard/release-keys.ts'
import { matchingOptions, type Option } from './options.ts'
import styles from './palette.module.css'

interface OptionListProps {
  label: string
  placeholder: string
  options: Option[]
  text: string
  onType(text: string): void
  /** Whether the options belong to the text. Enter waits for it, without `resolve`. */
  isSettled: boolean
  /** The options that belong to the text, so that Enter can close the palette before they are loaded. */
  resolve?(): Promise<Option[]>
  /** Instead of "No matches". */
  none?: string | undefined
  onBack?(): void
  onClose(): void
}

/** A combobox whose options are always shown. */
export function OptionList(props: OptionListProps) {
  const { label, options, text, isSettled, onClose } = props
  const id = useId()
  const [highlightedId, setHighlightedId] = useState<string>()
  /** Whether Enter was pressed before the options were there. */
  const [isEntered, setEntered] = useState(false)
  const shown = matchingOptions(options, text.trim())
  const index = Math.max(
    0,
    shown.findIndex((option) => option.id === highlightedId),
  )
  const highlighted = shown[index]

  function run(option: Option) {
    // First, so that an option can move the focus.
    if (!option.isStep) onClose()
    option.run()
  }
  function enter() {
    if (highlighted && (isSettled || highlightedId)) return run(highlighted)
    if (isSettled) return
    if (!props.resolve || text.trim() === '') {
      holdKeys()
      return setEntered(true)
    }
    onClose()
    void props.resolve().then((options) => matchingOptions(options, text.trim())[0]?.run())
  }
  useEffect(() => {
    if (!isEntered || !isSettled) return
    setEntered(false)
    if (highlighted) run(highlighted)
    else releaseKeys()
  })
  // The input has the focus now.
  useLayoutEffect(() => releaseKeys(), [])
  useEffect(() => {
    if (highlighted) document.getElementById(`${id}-${highlighted.id}`)?.scrollIntoView({ block: 'nearest' })
  }, [id, highlighted])

  function onKeyDown(event: ReactKeyboardEvent) {
    if (isComposing(event)) return
    const isCommand = event.ctrlKey || event.metaKey
    if (isEnter(event)) enter()
    else if (event.key === 'Escape') onClose()
    else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      const step = event.key === 'ArrowDown' ? 1 : -1
      setHighlightedId(shown[(index + step + shown.length) % shown.length]?.id)
    } else if (event.key === 'Backspace' && text === '' && props.onBack) props.onBack()
    else if (event.key === 'k' && isCommand) onClose()
    else return
    event.preventDefault()
  }

  return (
    <>
      <input
        // biome-ignore lint/a11y/noAutofocus: the only control of a dialog.
        autoFocus
        className={styles.input}
        role="combobox"
        aria-label={label}
        aria-autocomplete="list"
        aria-expanded={shown.length > 0}
        aria-controls={shown.length > 0 ? id : undefined}
        aria-activedescendant={highlighted ? `${id}-${highlighted.id}` : undefined}
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
        placeholder={props.placeholder}
        value={text}
        onKeyDown={onKeyDown}
        onChange={(event) => {
          setHighlightedId(undefined)
          // Keys wait after an Enter: this is another edit, of what it was pressed for.
          if (isEntered) {
            setEntered(false)
            discardKeys()
          }
          props.onType(event.currentTarget.value)
        }}
      />
      {shown.length > 0 ? (
        <div id={id} role="listbox" aria-label={label} className={styles.options} tabIndex={-1}>
          {[...Map.groupBy(shown, ({ group }) => group)].map(([group, members]) => (
            // biome-ignore lint/a11y/useSemanticElements: a fieldset is not allowed in a listbox.
            <div key={group} role="group" aria-label={group}>
              <div className={styles.group} aria-hidden>
                {group}
              </div>
              {members.map((option) => (
                <OptionLine
                  key={option.id}
                  id={`${id}-${option.id}`}
                  option={option}
                  isHighlighted={option === highlighted}
                  onHighlight={() => setHighlightedId(option.id)}
                  onPick={() => run(option)}
                />
              ))}
            </div>
          ))}
        </div>
      ) : (
        <p className={styles.none} role="status">
          {isSettled ? (props.none ?? 'No matches') : 'Searching…'}
        </p>
      )}
    </>
  )
}

interface OptionLineProps {
  id: string
  option: Option
  isHighlighted: boolean
  onHighlight(): void
  onPick(): void
}

function OptionLine({ id, option, isHighlighted, onHighlight, onPick }: OptionLineProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the input handles the keys.
    // biome-ignore lint/a11y/useFocusableInteractive: the input keeps the focus.
    <div
      id={id}
      role="option"
      aria-selected={isHighlighted}
      className={styles.option}
      onMouseMove={() => !isHighlighted && onHighlight()}
      onClick={onPick}
    >
      <span className={styles.label} dir="auto">
        {option.label}
      </span>
      {option.isCurrent && (
        <span className={styles.aside}>
          <CheckIcon size={14} aria-label="Current value" />
        </span>
      )}
      {option.aside && <span className={styles.aside}>{option.aside}</span>}
      {option.shortcut && (
        <span className={styles.aside} aria-hidden>
          <Kbd>{option.shortcut}</Kbd>
        </span>
      )}
    </div>
  )
}

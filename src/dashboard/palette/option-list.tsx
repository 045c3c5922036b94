import { Kbd } from '@mantine/core'
import { CheckIcon } from '@primer/octicons-react'
import { type KeyboardEvent as ReactKeyboardEvent, useEffect, useId, useLayoutEffect, useState } from 'react'
import { isComposing, isEnter, isEnterWithCommand } from '../components/is-enter.ts'
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
  /** Whether the keys 1 to 9 choose an option while no text is typed. */
  isNumbered?: boolean
  /** Whether the options belong to the text. Enter waits for it, without `resolve`. */
  isSettled: boolean
  /** Whether there are options to be numbered, though they may be loading again. Otherwise as `isSettled`. */
  isShown?: boolean
  /** The options that belong to the text, so that a choice can be made before they are loaded. */
  resolve?(): Promise<Option[]>
  /** Instead of "No matches". */
  none?: string | undefined
  /** What keys do here, beneath the options. */
  hint?: string | undefined
  /** Whether a choice leaves the list open, for the next one. */
  staysOpen?: boolean
  onBack?(): void
  /** Called at once, also for a choice whose options are not loaded. */
  onChoose?(): void
  onClose(): void
}

/** The one that is highlighted, or the one with this index. */
type Choice = 'highlighted' | number

/** A combobox whose options are always shown. */
export function OptionList(props: OptionListProps) {
  const { label, options, text, isSettled, staysOpen = false, onClose } = props
  const id = useId()
  const [highlightedId, setHighlightedId] = useState<string>()
  /** The choice that was made before the options were there. */
  const [awaited, setAwaited] = useState<Choice>()
  const shown = matchingOptions(options, text.trim())
  const index = Math.max(
    0,
    shown.findIndex((option) => option.id === highlightedId),
  )
  const highlighted = shown[index]
  const hasNumbers = props.isNumbered === true && text === ''

  function run(option: Option) {
    // First, so that an option can move the focus.
    if (!option.isStep && !staysOpen) onClose()
    if (!option.isStep) props.onChoose?.()
    option.run()
    if (!staysOpen) return
    clearText()
    releaseKeys()
  }
  function clearText() {
    if (text === '') return
    setHighlightedId(undefined)
    props.onType('')
  }
  function choose(choice: Choice) {
    const option = choice === 'highlighted' ? highlighted : shown[choice]
    if (option) run(option)
    else releaseKeys()
  }
  /** Takes the choice now, and makes it as soon as its options are loaded. */
  function chooseLater(choice: Choice) {
    if (!props.resolve || (text.trim() === '' && choice === 'highlighted')) {
      holdKeys()
      return setAwaited(choice)
    }
    if (staysOpen) clearText()
    else onClose()
    props.onChoose?.()
    const index = choice === 'highlighted' ? 0 : choice
    void props.resolve().then((options) => matchingOptions(options, text.trim())[index]?.run())
  }
  function enter() {
    if (highlighted && (isSettled || highlightedId)) run(highlighted)
    else if (!isSettled) chooseLater('highlighted')
  }
  /** Returns whether the key is a number that chooses an option. */
  function chooseNumber({ key, ctrlKey, metaKey, altKey, repeat }: ReactKeyboardEvent): boolean {
    if (!hasNumbers || ctrlKey || metaKey || altKey || !/^[1-9]$/.test(key)) return false
    const choice = Number(key) - 1
    const areShown = props.isShown ?? isSettled
    // It is text, when no option has this number.
    if (areShown && !shown[choice]) return false
    if (!repeat) areShown ? choose(choice) : chooseLater(choice)
    return true
  }
  useEffect(() => {
    if (awaited === undefined || !isSettled) return
    setAwaited(undefined)
    choose(awaited)
  })
  // The input has the focus now.
  useLayoutEffect(() => releaseKeys(), [])
  useEffect(() => {
    if (highlighted) document.getElementById(`${id}-${highlighted.id}`)?.scrollIntoView({ block: 'nearest' })
  }, [id, highlighted])

  function onKeyDown(event: ReactKeyboardEvent) {
    if (isComposing(event)) return
    const isCommand = event.ctrlKey || event.metaKey
    if (event.key === 'Escape' || (staysOpen && isEnterWithCommand(event))) onClose()
    else if (isEnter(event)) {
      if (!event.repeat) enter()
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      const step = event.key === 'ArrowDown' ? 1 : -1
      setHighlightedId(shown[(index + step + shown.length) % shown.length]?.id)
    } else if (event.key === 'Backspace' && text === '' && props.onBack) props.onBack()
    else if (event.key === 'k' && isCommand) onClose()
    else if (!chooseNumber(event)) return
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
          // Keys wait after a choice: this is another edit, of what it was made for.
          if (awaited !== undefined) {
            setAwaited(undefined)
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
                  number={hasNumbers ? numberOf(shown.indexOf(option)) : undefined}
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
      {props.hint && <p className={`about-keys ${styles.hint}`}>{props.hint}</p>}
    </>
  )
}

const numberOf = (index: number) => (index < 9 ? index + 1 : undefined)

interface OptionLineProps {
  id: string
  option: Option
  /** The key that chooses it. */
  number: number | undefined
  isHighlighted: boolean
  onHighlight(): void
  onPick(): void
}

function OptionLine({ id, option, number, isHighlighted, onHighlight, onPick }: OptionLineProps) {
  const key = number ?? option.shortcut
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the input handles the keys.
    // biome-ignore lint/a11y/useFocusableInteractive: the input keeps the focus.
    <div
      id={id}
      role="option"
      aria-selected={isHighlighted}
      aria-keyshortcuts={number?.toString()}
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
      {key && (
        <span className={styles.aside} aria-hidden>
          <Kbd className="about-keys">{key}</Kbd>
        </span>
      )}
    </div>
  )
}

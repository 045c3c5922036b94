import { Tree, type TreeNodeData, useTree } from '@mantine/core'
import '@mantine/core/styles/Tree.css'
import {
  type FocusEvent,
  type KeyboardEvent,
  type MouseEvent,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { isEnter } from '../components/is-enter.ts'
import { firstOpened, type MoreRow, PAGE, type ShownValue, treeOf } from './payload-nodes.ts'
import styles from './payload-tree.module.css'

interface PayloadTreeProps {
  payload: unknown
  /** Whether it takes the focus at first. */
  isFocused: boolean
  /** Called with the row of a value or an array that was chosen. */
  onChoose(value: ShownValue, row: HTMLElement): void
}

/** A payload as rows to choose from. Only what is open is rendered, at most some of it at a time. */
export function PayloadTree({ payload, isFocused, onChoose }: PayloadTreeProps) {
  const [opened, setOpened] = useState(() => firstOpened(payload))
  const [shown, setShown] = useState<Record<string, number>>({})
  const data = useMemo(() => treeOf(payload, { opened, shown }), [payload, opened, shown])
  const tree = useTree({
    expandedState: opened,
    // The tree names each of its rows whenever it has others.
    onExpandedStateChange: (next) => setOpened((current) => (isSame(current, next) ? current : next)),
  })

  const list = useRef<HTMLUListElement>(null)
  useEffect(() => {
    if (isFocused) list.current?.querySelector<HTMLElement>('[role=treeitem]')?.focus()
  }, [isFocused])

  const showMore = ({ parent }: MoreRow) =>
    setShown((current) => ({ ...current, [parent]: (current[parent] ?? PAGE) + PAGE }))

  function press(node: TreeNodeData, row: HTMLElement) {
    const { value, more } = rowOf(node)
    if (more) showMore(more)
    else if (value && value.kind !== 'object') onChoose(value, row)
    else tree.toggleExpanded(node.value)
  }

  function onKeyDown(event: KeyboardEvent<HTMLElement>) {
    const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[role=treeitem]')]
    const row = items.find((item) => item === event.target)
    const node = row && findNode(data, row.dataset.value)
    if (!row || !node) return
    const isSpace = event.key === ' '
    if (event.key === 'Home') items[0]?.focus()
    else if (event.key === 'End') items.at(-1)?.focus()
    else if (isSpace && node.hasChildren) tree.toggleExpanded(node.value)
    else if (isSpace || isEnter(event)) press(node, row)
    else return
    event.preventDefault()
    // The menu that it opens closes on keys outside of it.
    event.stopPropagation()
  }

  return (
    <Tree
      ref={list}
      aria-label="Values"
      className={styles.tree}
      data={data}
      tree={tree}
      levelOffset={18}
      expandOnSpace={false}
      allowRangeSelection={false}
      onKeyDown={onKeyDown}
      onFocus={moveTabStop}
      renderNode={({ node, expanded, hasChildren, elementProps }) => {
        const { value, more } = rowOf(node)
        const onClick = (event: MouseEvent<HTMLElement>) => {
          const row = event.currentTarget.closest<HTMLElement>('[role=treeitem]')
          if (hasChildren || !row) return elementProps.onClick(event)
          event.stopPropagation()
          row.focus()
          press(node, row)
        }
        return (
          // biome-ignore lint/a11y: keys reach the row that it labels.
          <div {...elementProps} className={`${elementProps.className} ${styles.row}`} onClick={onClick}>
            <span className={styles.arrow} aria-hidden>
              {hasChildren ? (expanded ? '▾' : '▸') : ''}
            </span>
            {more && <span>Show more ({more.remaining.toLocaleString()} left)</span>}
            {value && <Value {...value} />}
            {value?.kind === 'array' && (
              <button
                type="button"
                tabIndex={-1}
                aria-hidden
                className={styles.use}
                onClick={(event) => {
                  const row = event.currentTarget.closest<HTMLElement>('[role=treeitem]')
                  event.stopPropagation()
                  row?.focus()
                  if (row) onChoose(value, row)
                }}
              >
                Use
              </button>
            )}
          </div>
        )
      }}
    />
  )
}

function Value({ name, text, kind }: ShownValue) {
  return (
    <>
      <bdi className={styles.name}>{name === '' ? '""' : name}</bdi>{' '}
      <bdi className={kind === 'value' ? styles.text : `${styles.text} quiet`}>{text}</bdi>
    </>
  )
}

/** What the rows of `treeOf` have with them. */
const rowOf = ({ nodeProps }: TreeNodeData) =>
  nodeProps as { value?: never; more?: MoreRow } | { value: ShownValue; more?: never }

function findNode(nodes: TreeNodeData[], id: string | undefined): TreeNodeData | undefined {
  for (const node of nodes) {
    const found = node.value === id ? node : findNode(node.children ?? [], id)
    if (found) return found
  }
  return undefined
}

/** Tab leaves the tree, and returns to the row that had the focus. */
function moveTabStop({ currentTarget, target }: FocusEvent<HTMLElement>) {
  if (target.role !== 'treeitem') return
  for (const row of currentTarget.querySelectorAll<HTMLElement>('[role=treeitem][tabindex="0"]'))
    row.tabIndex = -1
  target.tabIndex = 0
}

const openIn = (state: Record<string, boolean>) => Object.keys(state).filter((id) => state[id])

function isSame(a: Record<string, boolean>, b: Record<string, boolean>) {
  const open = openIn(a)
  return open.length === openIn(b).length && open.every((id) => b[id])
}

export type RowGesture = 'done' | 'snooze' | 'select'

const LONG_PRESS_MS = 500
/** A finger that is meant to stay moves less. */
const SLOP_PX = 10
/** A shorter swipe does nothing. */
const SWIPE_PX = 96

interface Press {
  row: HTMLElement
  id: string
  pointerId: number
  x: number
  y: number
  timer: ReturnType<typeof setTimeout>
  isSwipe: boolean
}

/** Reports swipes and long presses of rows by touch; returns how to stop. Vertical movements scroll the list. */
export function watchRows(onGesture: (id: string, gesture: RowGesture) => void): () => void {
  let press: Press | undefined
  /** The end of a long press is not a click. */
  let isLongPress = false

  function end() {
    if (!press) return
    clearTimeout(press.timer)
    press.row.style.translate = ''
    delete press.row.dataset.swipe
    press = undefined
  }

  const onDown = ({ target, pointerType, isPrimary, pointerId, clientX, clientY }: PointerEvent) => {
    end()
    isLongPress = false
    const row = (target as Element).closest<HTMLElement>('[data-list] [data-task]')
    const id = row?.dataset.task
    if (!row || !id || pointerType !== 'touch' || !isPrimary) return
    const timer = setTimeout(() => {
      isLongPress = true
      end()
      onGesture(id, 'select')
    }, LONG_PRESS_MS)
    press = { row, id, pointerId, x: clientX, y: clientY, timer, isSwipe: false }
  }
  const onMove = ({ pointerId, clientX, clientY }: PointerEvent) => {
    if (!press || press.pointerId !== pointerId) return
    const [x, y] = [clientX - press.x, clientY - press.y]
    if (!press.isSwipe) {
      if (Math.abs(x) <= SLOP_PX && Math.abs(y) <= SLOP_PX) return
      if (Math.abs(y) >= Math.abs(x)) return end()
      clearTimeout(press.timer)
      press.isSwipe = true
      press.row.setPointerCapture(pointerId)
    }
    press.row.style.translate = `${x}px 0`
    press.row.dataset.swipe = x > 0 ? 'done' : 'snooze'
    press.row.toggleAttribute('data-far', Math.abs(x) >= SWIPE_PX)
  }
  const onUp = ({ pointerId, clientX }: PointerEvent) => {
    if (!press || press.pointerId !== pointerId) return
    const { id, isSwipe, x } = press
    end()
    const distance = clientX - x
    if (isSwipe && Math.abs(distance) >= SWIPE_PX) onGesture(id, distance > 0 ? 'done' : 'snooze')
  }
  const onClick = (event: MouseEvent) => {
    if (!isLongPress) return
    isLongPress = false
    event.preventDefault()
    event.stopPropagation()
  }
  /** The menu of the link would open. */
  const onContextMenu = (event: MouseEvent) => {
    if (press || isLongPress) event.preventDefault()
  }

  const stop = new AbortController()
  const options = { capture: true, signal: stop.signal }
  addEventListener('pointerdown', onDown, options)
  addEventListener('pointermove', onMove, options)
  addEventListener('pointerup', onUp, options)
  addEventListener('pointercancel', end, options)
  addEventListener('click', onClick, options)
  addEventListener('contextmenu', onContextMenu, options)
  return () => {
    end()
    stop.abort()
  }
}

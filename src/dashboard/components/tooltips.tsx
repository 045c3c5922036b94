import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import styles from './components.module.css'

const HOVER_DELAY_MS = 400
const GAP_PX = 6
/** A button that shows an icon and no text; not while its menu is open, which is in the place of the tooltip. */
const ICON_BUTTON =
  ':is(.mantine-ActionIcon-root[aria-label], [data-tooltip]):not([aria-haspopup][aria-expanded="true"])'

/** Shows the name of the icon button that has the pointer or the keyboard focus; Escape hides it. */
export function Tooltips() {
  const [button, setButton] = useState<Element>()
  const [label, setLabel] = useState('')
  const bubble = useRef<HTMLDivElement>(null)

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const show = (button: Element | undefined, delayMs = 0) => {
      clearTimeout(timer)
      if (button && delayMs > 0) timer = setTimeout(() => setButton(button), delayMs)
      else setButton(button)
    }
    const hide = () => show(undefined)
    const onOver = ({ target, pointerType }: PointerEvent) => {
      if (pointerType !== 'touch') show(iconButtonOf(target), HOVER_DELAY_MS)
    }
    const onFocus = ({ target }: FocusEvent) => {
      if (target instanceof Element && target.matches(':focus-visible')) show(iconButtonOf(target))
    }
    const onKey = ({ key }: KeyboardEvent) => key === 'Escape' && hide()
    // A menu opens; a copy button says "Copied" there.
    const onDown = ({ target }: PointerEvent) => iconButtonOf(target)?.matches('[aria-haspopup]') && hide()
    const options = { capture: true, passive: true }
    const listeners = [
      ['pointerover', onOver],
      ['focusin', onFocus],
      ['focusout', hide],
      ['keydown', onKey],
      ['pointerdown', onDown],
      ['scroll', hide],
    ] as [string, EventListener][]
    for (const [type, listener] of listeners) addEventListener(type, listener, options)
    // The pointer may have been there before this part was loaded.
    show(document.querySelector(`:is(${ICON_BUTTON}):hover`) ?? undefined, HOVER_DELAY_MS)
    return () => {
      clearTimeout(timer)
      for (const [type, listener] of listeners) removeEventListener(type, listener, options)
    }
  }, [])

  useEffect(() => {
    if (!button) return
    const read = () => {
      setLabel(labelOf(button))
      if (!button.isConnected) setButton(undefined)
    }
    read()
    const observer = new MutationObserver(read)
    observer.observe(document.body, {
      subtree: true,
      childList: true,
      attributeFilter: ['aria-label', 'data-tooltip'],
    })
    return () => observer.disconnect()
  }, [button])

  useLayoutEffect(() => {
    if (button && label && bubble.current) place(bubble.current, button.getBoundingClientRect())
  }, [button, label])

  if (!button || !label) return null
  return (
    // It repeats the accessible name of the button.
    <div ref={bubble} className={styles.tooltip} aria-hidden data-tooltip-shown>
      {label}
    </div>
  )
}

const iconButtonOf = (target: EventTarget | null) =>
  (target instanceof Element && target.closest(ICON_BUTTON)) || undefined

const labelOf = (button: Element) =>
  button.getAttribute('data-tooltip') ?? button.getAttribute('aria-label') ?? ''

/** Below the button where there is room, and within the window. */
function place(bubble: HTMLElement, { top, bottom, left, width }: DOMRect) {
  const { offsetWidth, offsetHeight, style } = bubble
  const below = bottom + GAP_PX
  const hasRoom = below + offsetHeight <= innerHeight
  const middle = left + (width - offsetWidth) / 2
  style.top = `${hasRoom ? below : top - GAP_PX - offsetHeight}px`
  style.left = `${Math.max(GAP_PX, Math.min(middle, innerWidth - offsetWidth - GAP_PX))}px`
}

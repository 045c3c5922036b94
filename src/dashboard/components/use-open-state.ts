import {
  type ComponentProps,
  cloneElement,
  type ReactElement,
  type Ref,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'

export type ButtonElement = ReactElement<ComponentProps<'button'>>

/** Whether this was true once: what was fetched when it was wanted stays, and can close as it opened. */
export function useEver(claim: boolean): boolean {
  const [ever, setEver] = useState(claim)
  if (claim && !ever) setEver(true)
  return ever || claim
}

/** What is wanted, one drawing later: what has just been fetched notes as it opens where the focus was, to give it back. */
export function useOpened(isWanted: boolean): boolean {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => setOpen(isWanted), [isWanted])
  return isOpen
}

/**
 * For what takes the place of a button that was pressed. The new button has the focus before anything opens, so that it
 * can be given back; whoever went elsewhere meanwhile is not called back.
 */
export function useOpening(button: ButtonElement) {
  const opener = useRef<HTMLButtonElement>(null)
  const [isOpen, setOpen] = useState(false)
  useLayoutEffect(() => {
    // The focus went with the button that was pressed.
    if (document.activeElement !== document.body) return
    opener.current?.focus()
    setOpen(true)
  }, [])
  const target = cloneElement(button, { ref: opener } as { ref: Ref<HTMLButtonElement> })
  return { isOpen, setOpen, target }
}

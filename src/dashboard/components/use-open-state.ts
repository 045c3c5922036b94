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

/** Keeps a lazy component mounted after its first use, so that it can animate when it closes. */
export function useHasBeenTrue(value: boolean): boolean {
  const [hasBeenTrue, setHasBeenTrue] = useState(value)
  if (value && !hasBeenTrue) setHasBeenTrue(true)
  return hasBeenTrue || value
}

/** Opens one render later: a dialog saves the focused element when it changes to open. */
export function useOpenAfterRender(shouldOpen: boolean): boolean {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => setOpen(shouldOpen), [shouldOpen])
  return isOpen
}

/**
 * For a component that replaces a pressed button. Focuses the new button before opening, so that closing restores
 * the focus; does nothing when the focus moved elsewhere.
 */
export function useOpenOnMount(button: ButtonElement) {
  const buttonRef = useRef<HTMLButtonElement>(null)
  const [isOpen, setOpen] = useState(false)
  useLayoutEffect(() => {
    // Replacing the focused button moves the focus to the body.
    if (document.activeElement !== document.body) return
    buttonRef.current?.focus()
    setOpen(true)
  }, [])
  const target = cloneElement(button, { ref: buttonRef } as { ref: Ref<HTMLButtonElement> })
  return { isOpen, setOpen, target }
}

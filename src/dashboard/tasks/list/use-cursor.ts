import { useMemo, useRef, useState } from 'react'

/** Which task of a list has the keyboard, by id, because its index changes. */
export interface Cursor {
  /** As it is now: the next key may come before the list is rendered. */
  id(): string | undefined
  /** Undefined when there is no row to move to. */
  moveTo(id: string | undefined): void
}

export function useCursor() {
  const current = useRef<string>(undefined)
  const [focusedId, setFocusedId] = useState<string>()
  const cursor = useMemo<Cursor>(
    () => ({
      id: () => current.current,
      moveTo(id) {
        current.current = id
        setFocusedId(id)
      },
    }),
    [],
  )
  return { cursor, focusedId }
}

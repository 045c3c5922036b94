import { useCallback, useState } from 'react'

/**
 * Which children of a line that wraps do not fit into its first row, by their `data-item`. They get the attribute
 * `data-overflow`, by which CSS hides them.
 */
export function useOverflow() {
  const [hidden, setHidden] = useState<readonly string[]>([])
  const ref = useCallback((line: HTMLElement | null) => {
    if (!line) return
    const measure = () => {
      const { bottom, right } = line.getBoundingClientRect()
      const items = [...line.children].filter((child): child is HTMLElement => child instanceof HTMLElement)
      const overflowing = items.filter((item) => {
        const box = item.getBoundingClientRect()
        return box.top >= bottom - 1 || box.right > right + 1
      })
      for (const item of items) item.toggleAttribute('data-overflow', overflowing.includes(item))
      const names = overflowing.flatMap(({ dataset }) => dataset.item ?? [])
      setHidden((before) => (before.join() === names.join() ? before : names))
    }
    const resized = new ResizeObserver(measure)
    resized.observe(line)
    const changed = new MutationObserver(measure)
    changed.observe(line, { childList: true, subtree: true, characterData: true })
    return () => {
      resized.disconnect()
      changed.disconnect()
    }
  }, [])
  return { ref, hidden }
}

import styles from './markdown-loading.module.css'

const CHARACTERS_PER_LINE = 60
const MAX_LINES = 6

/** Lines in the place of a text: unformatted Markdown is never shown for a moment. */
export function MarkdownLoading({ text }: { text: string }) {
  const count = Math.min(MAX_LINES, Math.ceil(text.length / CHARACTERS_PER_LINE))
  return (
    <div className={styles.lines} aria-hidden data-markdown-loading>
      {Array.from({ length: count }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines keep their order.
        <span key={line} />
      ))}
    </div>
  )
}

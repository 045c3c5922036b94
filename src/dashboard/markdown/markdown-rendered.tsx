import { type Components, toJsxRuntime } from 'hast-util-to-jsx-runtime'
import { memo, startTransition, useEffect, useState } from 'react'
import { Fragment, jsx, jsxs } from 'react/jsx-runtime'
import styles from './markdown.module.css'
import type { Parsed, PlainReason } from './parse.ts'
import { useParsed } from './use-parsed-markdown.ts'

/** What is longer is shown up to here until somebody asks for the rest. */
const MAX_SHOWN_AT_ONCE = 20_000

export default function MarkdownRendered({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false)
  const isCut = !isWhole && text.length > MAX_SHOWN_AT_ONCE
  const shown = isCut ? text.slice(0, MAX_SHOWN_AT_ONCE) : text
  const start = useParsed(isWhole ? text.slice(0, MAX_SHOWN_AT_ONCE) : undefined)
  const whole = useParsed(shown)
  const isFormatting = isWhole && whole === undefined
  // Until the whole text is parsed, its start stays on the page.
  const parsed = isFormatting ? start : whole
  return (
    <div className={styles.text} dir="auto">
      {parsed === undefined ? (
        <p className="quiet breakable">{text.slice(0, 400)}</p>
      ) : 'chunks' in parsed ? (
        <Chunks key={isFormatting ? MAX_SHOWN_AT_ONCE : shown.length} chunks={parsed.chunks} />
      ) : (
        <>
          <p className="quiet small" role="note">
            {WHY_PLAIN[parsed.plainBecause]}
          </p>
          <pre className="breakable plain-text">{text}</pre>
        </>
      )}
      {(isCut || isFormatting) && parsed && 'chunks' in parsed && (
        <button type="button" className={styles.more} onClick={() => setWhole(true)}>
          {isFormatting ? 'Formatting' : 'Show'} all {text.length.toLocaleString()} characters
          {isFormatting && '…'}
        </button>
      )}
    </div>
  )
}

const WHY_PLAIN: Record<PlainReason, string> = {
  'too-complex': 'Shown as plain text, because its formatting is too complex to display.',
  'too-slow': 'Shown as plain text, because formatting it took too long.',
  'not-available': 'Shown as plain text, because the formatter could not be loaded.',
}

/** The beginning first, then piece by piece, so that the page answers to whoever clicks in between. */
function Chunks({ chunks }: Extract<Parsed, { chunks: unknown }>) {
  const [count, setCount] = useState(1)
  useEffect(() => {
    if (count < chunks.length) startTransition(() => setCount(count + 1))
  }, [count, chunks.length])
  return chunks.slice(0, count).map((chunk, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text keep their order.
    <Chunk key={index} chunk={chunk} />
  ))
}

const Chunk = memo(function Chunk({ chunk }: { chunk: Parameters<typeof toJsxRuntime>[0] }) {
  return toJsxRuntime(chunk, { Fragment, jsx, jsxs, components, ignoreInvalidStyle: true })
})

const components: Partial<Components> = {
  a: ({ href, children }) =>
    // Addresses that are not of the web (javascript:, data:) were emptied before they came here.
    href ? (
      <a href={href} target="_blank" rel="noreferrer noopener nofollow">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  img: ({ src, alt }) => <OutsideImage src={typeof src === 'string' ? src : ''} alt={alt ?? ''} />,
  h1: ({ children }) => <h3>{children}</h3>,
  h2: ({ children }) => <h3>{children}</h3>,
  h3: ({ children }) => <h4>{children}</h4>,
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by keyboard.
    <section className={styles.table} tabIndex={0} aria-label="Table">
      <table>{children}</table>
    </section>
  ),
}

/** A picture from elsewhere would tell its server who reads what, so it waits for a click. */
function OutsideImage({ src, alt }: { src: string; alt: string }) {
  const [isWanted, setWanted] = useState(false)
  const host = URL.parse(src)?.host
  if (!host || !/^https:/i.test(src)) {
    return src ? (
      <a href={src} target="_blank" rel="noreferrer noopener nofollow">
        Picture: {alt || host || 'open it'}
      </a>
    ) : (
      <span>{alt}</span>
    )
  }
  if (isWanted) return <img src={src} alt={alt} referrerPolicy="no-referrer" />
  return (
    <button type="button" className={styles.picture} onClick={() => setWanted(true)}>
      Load picture{alt && ` “${alt}”`} from {host}
    </button>
  )
}

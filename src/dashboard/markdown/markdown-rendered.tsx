import { type Components, toJsxRuntime } from 'hast-util-to-jsx-runtime'
import { memo, startTransition, useEffect, useMemo, useState } from 'react'
import { Fragment, jsx, jsxs } from 'react/jsx-runtime'
import { linkReferences } from './link-references.ts'
import styles from './markdown.module.css'
import { MarkdownLoading } from './markdown-loading.tsx'
import type { Parsed, PlainReason } from './parse.ts'
import { useParsedMarkdown } from './use-parsed-markdown.ts'

/** Longer texts are truncated until the user expands them. */
const MAX_INITIAL_CHARACTERS = 20_000

export default function MarkdownRendered({ text, itemUrl }: { text: string; itemUrl: string | null }) {
  const [isExpanded, setExpanded] = useState(false)
  const isTruncated = !isExpanded && text.length > MAX_INITIAL_CHARACTERS
  const shown = isTruncated ? text.slice(0, MAX_INITIAL_CHARACTERS) : text
  const start = useParsedMarkdown(isExpanded ? text.slice(0, MAX_INITIAL_CHARACTERS) : undefined)
  const whole = useParsedMarkdown(shown)
  const isFormatting = isExpanded && whole === undefined
  // The start stays rendered while the full text is parsed.
  const parsed = isFormatting ? start : whole
  return (
    <div className={styles.text} dir="auto">
      {parsed === undefined ? (
        <MarkdownLoading text={text} />
      ) : 'chunks' in parsed ? (
        <Chunks
          key={isFormatting ? MAX_INITIAL_CHARACTERS : shown.length}
          chunks={parsed.chunks}
          itemUrl={itemUrl}
        />
      ) : (
        <>
          <p className="quiet small" role="note">
            {PLAIN_REASONS[parsed.plainReason]}
          </p>
          <pre className="breakable plain-text">{text}</pre>
        </>
      )}
      {(isTruncated || isFormatting) && parsed && 'chunks' in parsed && (
        <button type="button" className={styles.more} onClick={() => setExpanded(true)}>
          {isFormatting ? 'Formatting' : 'Show'} all {text.length.toLocaleString()} characters
          {isFormatting && '…'}
        </button>
      )}
    </div>
  )
}

const PLAIN_REASONS: Record<PlainReason, string> = {
  'too-complex': 'Shown as plain text: the formatting is too complex to display.',
  'too-slow': 'Shown as plain text: formatting took too long.',
  'not-available': "Shown as plain text: couldn't load the formatter.",
}

/** One chunk per transition, so that the page handles clicks in between. */
function Chunks({
  chunks: parsed,
  itemUrl,
}: Extract<Parsed, { chunks: unknown }> & { itemUrl: string | null }) {
  const chunks = useMemo(() => linkReferences(parsed, itemUrl), [parsed, itemUrl])
  const [count, setCount] = useState(1)
  useEffect(() => {
    if (count < chunks.length) startTransition(() => setCount(count + 1))
  }, [count, chunks.length])
  return chunks.slice(0, count).map((chunk, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the chunks keep their order.
    <Chunk key={index} chunk={chunk} />
  ))
}

const Chunk = memo(function Chunk({ chunk }: { chunk: Parameters<typeof toJsxRuntime>[0] }) {
  return toJsxRuntime(chunk, { Fragment, jsx, jsxs, components, ignoreInvalidStyle: true })
})

const components: Partial<Components> = {
  a: ({ href, children }) =>
    // The parser emptied URLs such as javascript: and data:.
    href ? (
      <a href={href} target="_blank" rel="noreferrer noopener nofollow">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  img: ({ src, alt }) => <ExternalImage src={typeof src === 'string' ? src : ''} alt={alt ?? ''} />,
  h1: ({ children }) => <h3>{children}</h3>,
  h2: ({ children }) => <h3>{children}</h3>,
  h3: ({ children }) => <h4>{children}</h4>,
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable.
    <section className={styles.table} tabIndex={0} aria-label="Table">
      <table>{children}</table>
    </section>
  ),
}

/** A remote image would tell its server who reads the task, so it loads on click. */
function ExternalImage({ src, alt }: { src: string; alt: string }) {
  const [isRequested, setRequested] = useState(false)
  const host = URL.parse(src)?.host
  if (!host || !/^https:/i.test(src)) {
    return src ? (
      <a href={src} target="_blank" rel="noreferrer noopener nofollow">
        Image: {alt || host || 'open'}
      </a>
    ) : (
      <span>{alt}</span>
    )
  }
  if (isRequested) return <img src={src} alt={alt} referrerPolicy="no-referrer" />
  return (
    <button type="button" className={styles.picture} onClick={() => setRequested(true)}>
      Load image{alt && ` “${alt}”`} from {host}
    </button>
  )
}

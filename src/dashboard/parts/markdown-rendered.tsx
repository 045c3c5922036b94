import { useState } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import styles from './markdown.module.css'

/** What is longer is shown up to here until somebody asks for the rest: parsing it would hold up the page. */
const SHOWN_AT_ONCE = 20_000

export default function MarkdownRendered({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false)
  const isCut = !isWhole && text.length > SHOWN_AT_ONCE
  return (
    <div className={styles.text} dir="auto">
      <ReactMarkdown remarkPlugins={[remarkGfm]} components={components}>
        {isCut ? text.slice(0, SHOWN_AT_ONCE) : text}
      </ReactMarkdown>
      {isCut && (
        <button type="button" className={styles.more} onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString()} characters
        </button>
      )}
    </div>
  )
}

const components: Components = {
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

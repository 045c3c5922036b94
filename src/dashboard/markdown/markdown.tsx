import { lazy, memo, Suspense } from 'react'
import { ErrorBoundary } from '../components/error-boundary.tsx'
import { MarkdownLoading } from './markdown-loading.tsx'

const Rendered = lazy(() => import('./markdown-rendered.tsx'))

interface MarkdownProps {
  text: string
  /** Of the issue or pull request that the text is of: `#12` and `@name` link to its code host. */
  itemUrl?: string | null
}

/** Renders Markdown, never HTML. */
export const Markdown = memo(function Markdown({ text, itemUrl = null }: MarkdownProps) {
  return (
    <ErrorBoundary
      resetKey={text}
      // Deeply nested text can exceed the call stack.
      fallback={() => <pre className="breakable plain-text">{text}</pre>}
    >
      <Suspense fallback={<MarkdownLoading text={text} />}>
        <Rendered text={text} itemUrl={itemUrl} />
      </Suspense>
    </ErrorBoundary>
  )
})

import { lazy, memo, Suspense } from 'react'
import { ErrorBoundary } from '../components/error-boundary.tsx'

const Rendered = lazy(() => import('./markdown-rendered.tsx'))

/** Renders Markdown, never HTML. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return (
    <ErrorBoundary
      resetKey={text}
      // Deeply nested text can exceed the call stack.
      fallback={() => <pre className="breakable plain-text">{text}</pre>}
    >
      <Suspense fallback={<p className="quiet breakable">{text.slice(0, 400)}</p>}>
        <Rendered text={text} />
      </Suspense>
    </ErrorBoundary>
  )
})

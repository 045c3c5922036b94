import { CatchBoundary } from '@tanstack/react-router'
import { lazy, memo, Suspense } from 'react'

const Rendered = lazy(() => import('./markdown-rendered.tsx'))

/** Renders Markdown, never HTML. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return (
    <CatchBoundary
      getResetKey={() => text}
      // Deeply nested text can exceed the call stack.
      errorComponent={() => <pre className="breakable plain-text">{text}</pre>}
    >
      <Suspense fallback={<p className="quiet breakable">{text.slice(0, 400)}</p>}>
        <Rendered text={text} />
      </Suspense>
    </CatchBoundary>
  )
})

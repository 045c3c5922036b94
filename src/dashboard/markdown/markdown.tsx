import { CatchBoundary } from '@tanstack/react-router'
import { lazy, memo, Suspense } from 'react'

const Rendered = lazy(() => import('./markdown-rendered.tsx'))

/** Text as Markdown. It is never HTML: tags are text, and scripts are nothing. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return (
    <CatchBoundary
      getResetKey={() => text}
      // Some text nests so deep that no page can draw it. It can still be read.
      errorComponent={() => <pre className="breakable plain-text">{text}</pre>}
    >
      <Suspense fallback={<p className="quiet breakable">{text.slice(0, 400)}</p>}>
        <Rendered text={text} />
      </Suspense>
    </CatchBoundary>
  )
})

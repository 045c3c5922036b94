import { lazy, memo, Suspense } from 'react'

const Rendered = lazy(() => import('./markdown-rendered.tsx'))

/** Text as Markdown. It is never HTML: tags are text, and scripts are nothing. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return (
    <Suspense fallback={<p className="quiet breakable">{text.slice(0, 400)}</p>}>
      <Rendered text={text} />
    </Suspense>
  )
})

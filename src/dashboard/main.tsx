import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode, Suspense, startTransition } from 'react'
import { createRoot } from 'react-dom/client'
import './styles.ts'
import { cache } from './api/query-client.ts'
import { firstPageRendered, lazyComponent } from './components/lazy.tsx'
import { router } from './router.tsx'
import { colours, theme } from './theme.ts'

const Notices = lazyComponent(async () => {
  await firstPageRendered
  return import('./components/toasts.tsx')
})

const root = document.getElementById('root')
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce
if (!root) throw new Error('The page has no place for the dashboard.')

const dashboard = (
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={colours}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce ?? ''}
    >
      <QueryClientProvider client={cache}>
        <RouterProvider router={router} />
        <Suspense>
          <Notices />
        </Suspense>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>
)

// The first paint stays until there is a page, be it one that says what went wrong.
const firstPage = new MutationObserver(() => {
  if (!root.querySelector('main')) return
  document.getElementById('first-paint')?.remove()
  firstPage.disconnect()
})
firstPage.observe(root, { childList: true, subtree: true })

// In small pieces, so that the page answers to whoever clicks before all of it is there.
startTransition(() => createRoot(root).render(dashboard))

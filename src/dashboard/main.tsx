import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode, Suspense, startTransition } from 'react'
import { createRoot } from 'react-dom/client'
import { LocationProvider } from './navigation/location-provider.tsx'
import './styles.ts'
import { queryClient } from './api/query-client.ts'
import { lazyComponent, pageUsed } from './components/lazy.tsx'
import { preloadPage, Routes } from './routes.tsx'
import { colours, theme } from './theme.ts'

const Toasts = lazyComponent(async () => {
  await pageUsed
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
      <QueryClientProvider client={queryClient}>
        <LocationProvider preloadPage={preloadPage}>
          <Routes />
        </LocationProvider>
        <Suspense>
          <Toasts />
        </Suspense>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>
)

// The inline first paint stays until a page or an error page is rendered.
const firstPage = new MutationObserver(() => {
  if (!root.querySelector('main')) return
  document.getElementById('first-paint')?.remove()
  firstPage.disconnect()
})
firstPage.observe(root, { childList: true, subtree: true })

// Requested in parallel with /api/me, so that the task page waits for one round trip.
preloadPage(location.pathname + location.search)

// A transition renders in interruptible steps, so that the page handles clicks early.
startTransition(() => createRoot(root).render(dashboard))

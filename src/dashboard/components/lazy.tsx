import { Button } from '@mantine/core'
import { type ComponentType, lazy, useLayoutEffect } from 'react'

type Load<Props> = () => Promise<{ default: ComponentType<Props> }>

/** Most browsers have rendered the first page after this time. */
const FIRST_PAGE_MS = 1_000

/** A slow browser is never idle while something moves. */
const MAX_IDLE_WAIT_MS = 1_000

const whenIdle = () =>
  new Promise<void>((resolve) => {
    if ('requestIdleCallback' in globalThis)
      requestIdleCallback(() => resolve(), { timeout: MAX_IDLE_WAIT_MS })
    else setTimeout(resolve)
  })

/** Resolves when the first page is rendered and the browser is idle, or should have been by then. */
export const firstPageRendered = new Promise((resolve) => setTimeout(resolve, FIRST_PAGE_MS)).then(whenIdle)

/** What the first page does not show is fetched when somebody uses it, or after this time. */
const MAX_UNUSED_MS = 10_000

const USES = ['pointermove', 'pointerdown', 'keydown', 'wheel']

const firstUse = new Promise<unknown>((resolve) => {
  for (const type of USES)
    globalThis.addEventListener?.(type, resolve, { once: true, capture: true, passive: true })
  setTimeout(resolve, MAX_UNUSED_MS)
})

/** Resolves when the first page is rendered and used. */
export const pageUsed = Promise.all([firstPageRendered, firstUse]).then(whenIdle)

let previous: Promise<unknown> = pageUsed

/** A lazy component that is fetched once the page is used, so that it also opens while the service is down. */
export function preload<Props>(load: Load<Props>) {
  preloadWhenIdle(load)
  return lazyComponent(load)
}

/** Like `preload`, for functions. Callers that wait for the module get it in the order of their calls. */
export function preloadModule<Module>(load: () => Promise<Module>) {
  let loading: Promise<Module> | undefined
  const loadOnce = () => {
    loading ??= load().catch((error) => {
      loading = undefined
      throw error
    })
    return loading
  }
  preloadWhenIdle(loadOnce)
  return loadOnce
}

/** Like `preload`, for a dialog: its fallback for a failed load can be closed. `onFallback` is called when that is shown. */
export function preloadDialog<Props extends { onClose(): void }>(load: Load<Props>, onFallback?: () => void) {
  preloadWhenIdle(load)
  const Fallback = (props: Props) => <ChunkErrorDialog onClose={props.onClose} onShown={onFallback} />
  return lazy(() => load().catch(() => ({ default: Fallback as ComponentType<Props> })))
}

/** A lazy component that renders an error in its place when its chunk cannot be loaded. */
export const lazyComponent = <Props,>(load: Load<Props>) =>
  lazy(() => load().catch(() => ({ default: ChunkError as ComponentType<Props> })))

/** One chunk at a time, in the order of the calls. */
function preloadWhenIdle(load: () => Promise<unknown>) {
  previous = previous
    .then(whenIdle)
    .then(load)
    .catch(() => {})
}

/** Suspense fallback of a dialog: shortcuts are disabled until the dialog is rendered. */
export const DialogLoading = () => <span hidden data-dialog-loading />

/** Offers a reload of the page: browsers cache a failed dynamic import until then. */
function ChunkError() {
  return (
    <div className="chunk-error" role="alert">
      <ChunkErrorText />
    </div>
  )
}

/** Takes the focus, so that no key reaches the page below. */
function ChunkErrorDialog({ onClose, onShown }: { onClose(): void; onShown: (() => void) | undefined }) {
  useLayoutEffect(() => onShown?.(), [onShown])
  return (
    <div
      className="chunk-error"
      role="dialog"
      aria-modal="true"
      aria-label="Couldn't open this dialog"
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose()
      }}
    >
      <ChunkErrorText />
      <Button variant="subtle" autoFocus onClick={onClose}>
        Close
      </Button>
    </div>
  )
}

function ChunkErrorText() {
  return (
    <>
      <span>Couldn't load part of this page because Inlet did not respond. Your input is kept.</span>
      <Button variant="default" onClick={() => location.reload()}>
        Reload page
      </Button>
    </>
  )
}

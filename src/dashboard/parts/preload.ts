import { type ComponentType, lazy } from 'react'
import { LoadFailure, UnfetchedDialog } from './load-failure.tsx'

type Load<Props> = () => Promise<{ default: ComponentType<Props> }>

/** The first page has been drawn by then, on most machines. */
const FIRST_PAGE_MS = 1_000

/** When the browser has nothing else to do. */
const idle = () =>
  new Promise<void>((resolve) => (globalThis.requestIdleCallback ?? setTimeout)(() => resolve()))

/** When the first page is there. */
export const quiet = new Promise((resolve) => setTimeout(resolve, FIRST_PAGE_MS)).then(idle)

let previous: Promise<unknown> = quiet

/**
 * A part that the first page does without. It is fetched when it is quiet all the same, after those before it: then it
 * is there when somebody wants it, also while the service is away.
 */
export function preload<Props>(load: Load<Props>) {
  fetchSoon(load)
  return lazyPart(load)
}

/** The same for a dialog, which says in its own place that it could not be fetched. */
export function soonDialog<Props extends { onClose(): void }>(load: Load<Props>) {
  fetchSoon(load)
  return lazy(() => load().catch(() => ({ default: UnfetchedDialog as ComponentType<Props> })))
}

function fetchSoon(load: () => Promise<unknown>) {
  previous = previous
    .then(idle)
    .then(load)
    .catch(() => {})
}

/** A part of its own file; where it cannot be fetched its place says so, and the rest of the page goes on. */
export const lazyPart = <Props>(load: Load<Props>) =>
  lazy(() => load().catch(() => ({ default: LoadFailure as ComponentType<Props> })))

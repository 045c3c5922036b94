/** Going back takes some milliseconds, or does not happen. */
const MAX_MS = 1_000

let goingBack: Promise<void> | undefined

/** Goes back in the history, once: something may be closed twice. Resolves when the address is there. */
export function goBack(entries: number): Promise<void> {
  goingBack ??= new Promise<void>((resolve) => {
    addEventListener('popstate', () => resolve(), { once: true })
    setTimeout(resolve, MAX_MS)
    history.go(-entries)
  }).finally(() => {
    goingBack = undefined
  })
  return goingBack
}

export const isGoingBack = () => goingBack !== undefined

/** At once, unless the browser is on its way back: it would leave an entry that is added meanwhile. */
export function afterGoingBack(act: () => void) {
  if (goingBack) void goingBack.then(act)
  else act()
}

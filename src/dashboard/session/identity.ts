const IDENTITY_KEY = 'inlet-identity'
/** Settings of the browser, not of who uses it. */
const KEPT = ['mantine-color-scheme-value', 'inlet-first-owner-hidden', 'inlet-single-keys']

/** Of this document. */
let current: string | undefined

/**
 * Clears what another key has stored in this browser, such as drafts. Returns whether this page belongs to another key: it
 * has to be loaded again, because its memory has that key's data.
 */
export function identify(principalId: string): boolean {
  for (const storage of [() => sessionStorage, () => localStorage]) {
    try {
      claim(storage(), principalId)
    } catch {
      // It is forbidden or full: then it has nothing to clear, or was cleared.
    }
  }
  const isOther = current !== undefined && current !== principalId
  current = principalId
  return isOther
}

function claim(storage: Storage, principalId: string) {
  const owner = storage.getItem(IDENTITY_KEY)
  if (owner === principalId) return
  if (owner !== null) for (const key of Object.keys(storage)) if (!KEPT.includes(key)) storage.removeItem(key)
  storage.setItem(IDENTITY_KEY, principalId)
}

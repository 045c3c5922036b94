import { toast } from './toast.ts'

/** What could not be stored; it lasts until the page is left. */
const unstored = new Map<string, string>()

/** Text in session storage, which may be full or forbidden. */
export function readStored(key: string): string | undefined {
  try {
    return unstored.get(key) ?? sessionStorage.getItem(key) ?? undefined
  } catch {
    return unstored.get(key)
  }
}

export function writeStored(key: string, text: string | undefined): void {
  const wasStored = !unstored.delete(key)
  try {
    if (text === undefined) sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, text)
  } catch {
    if (text === undefined) return
    unstored.set(key, text)
    if (wasStored)
      toast.error(
        'The browser’s storage is full',
        'What you type is kept only until you leave or reload this page. Save it soon, or copy it.',
      )
  }
}

import { useEffect, useState } from 'react'
import { toast } from './toast.ts'

const TOLD_MS = 1_500

/** Copies text; `copied` is true for a moment after it has worked. */
export function useCopy(text: string) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), TOLD_MS)
    return () => clearTimeout(timer)
  }, [copied])

  async function copy() {
    const isDone = await write(text)
    setCopied(isDone)
    if (!isDone) toast.done('This browser does not let pages copy. Select the text and copy it yourself.')
  }

  return { copied, copy }
}

/** Browsers keep the clipboard from a page that comes over plain http; the old way is still open to it. */
async function write(text: string): Promise<boolean> {
  if (navigator.clipboard) {
    const isDone = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
    if (isDone) return true
  }
  const holder = document.createElement('textarea')
  const focused = document.activeElement
  holder.value = text
  holder.className = 'visually-hidden'
  // Inside a dialog, for it takes the focus back from whatever is outside.
  const place = focused?.closest('[role="dialog"]') ?? document.body
  place.append(holder)
  holder.select()
  const isDone = document.execCommand('copy')
  holder.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return isDone
}

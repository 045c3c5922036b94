import { useEffect, useState } from 'react'
import { toast } from './toast.ts'

const COPIED_MS = 1_500

/** `copied` is true for a moment after a copy. */
export function useCopy(text: string) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), COPIED_MS)
    return () => clearTimeout(timer)
  }, [copied])

  async function copy() {
    const isCopied = await writeToClipboard(text)
    setCopied(isCopied)
    if (!isCopied)
      toast.info(
        "Couldn't copy: the browser blocked access to the clipboard. Select the text and copy it manually.",
      )
  }

  return { copied, copy }
}

/** Browsers offer the Clipboard API only in secure contexts; execCommand also works over plain HTTP. */
export async function writeToClipboard(text: string): Promise<boolean> {
  if (navigator.clipboard) {
    const isCopied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
    if (isCopied) return true
  }
  const textarea = document.createElement('textarea')
  const focused = document.activeElement
  textarea.value = text
  textarea.className = 'visually-hidden'
  // Inside an open dialog, whose focus trap would take the focus back.
  const container = focused?.closest('[role="dialog"]') ?? document.body
  container.append(textarea)
  textarea.select()
  const isCopied = document.execCommand('copy')
  textarea.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return isCopied
}

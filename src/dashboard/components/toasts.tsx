import { Notifications } from '@mantine/notifications'
import { useEffect } from 'react'
import { Tooltips } from './tooltips.tsx'

/** The toasts and tooltips, which float over any page. */
export default function Toasts() {
  useEffect(publishHeight, [])
  return (
    <>
      <Notifications withinPortal={false} position="bottom-center" limit={5} transitionDuration={120} />
      <Tooltips />
    </>
  )
}

/** Around the toasts. */
const MARGINS_PX = 24

/** The list of tasks ends above the toasts, so that they cover no row. */
function publishHeight() {
  const toasts = document.querySelector<HTMLElement>(
    '.mantine-Notifications-root[data-position="bottom-center"]',
  )
  if (!toasts) return
  const { style } = document.documentElement
  const observer = new ResizeObserver(() => {
    const height = toasts.offsetHeight
    style.setProperty('--toasts-height', height > 0 ? `${height + MARGINS_PX}px` : '0px')
  })
  observer.observe(toasts)
  return () => {
    observer.disconnect()
    style.removeProperty('--toasts-height')
  }
}

import { useQuery } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useState } from 'react'
import { commentQuery } from '../../api/queries.ts'
import { useOpened } from '../../navigation/use-opened.ts'
import type { TimelineItem } from './timeline-items.ts'

/** Between two comments, there may be thousands of activities. */
const MAX_PARTS = 60

interface LoadedTimeline {
  taskId: string
  items: TimelineItem[]
  /** Undefined while there is nothing to load. */
  loadEarlier: (() => Promise<void>) | undefined
}

/** Loads earlier parts of a timeline until it has the comment that a link opens, and scrolls to it. */
export function useLinkedComment({ taskId, items, loadEarlier }: LoadedTimeline): void {
  const { opened = '' } = useOpened('edit')
  const [parts, setParts] = useState(0)
  const isShown = items.some((item) => 'comment' in item && item.comment.id === opened)
  const isMissing = UUID.test(opened) && !isShown && loadEarlier !== undefined
  const { data: comment } = useQuery({ ...commentQuery(opened), enabled: isMissing })
  const isSought = isMissing && comment?.taskId === taskId

  const load = useEffectEvent(async () => {
    await loadEarlier?.()
    setParts((count) => count + 1)
  })
  useEffect(() => {
    if (isSought && parts < MAX_PARTS) void load()
  }, [isSought, parts])

  const scroll = useEffectEvent(() => {
    const block = parts > 0 ? 'center' : 'nearest'
    document.querySelector(`[data-comment="${opened}"]`)?.scrollIntoView({ block })
  })
  useEffect(() => {
    if (isShown) scroll()
  }, [isShown])
}

/** Other editors of the panel have names. */
const UUID = /^[0-9a-f-]{36}$/

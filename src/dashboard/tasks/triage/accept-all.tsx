import { Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Suspense, useEffect, useRef, useState } from 'react'
import { problemOf } from '../../api/problem.ts'
import type { TaskFilters } from '../../api/queries.ts'
import { DialogLoading, preloadDialog } from '../../components/lazy.tsx'
import { toast } from '../../components/toast.ts'
import { useTaskActions } from '../edits/use-task-actions.ts'
import { fetchMatching } from '../list/use-matching-tasks.ts'
import { onAcceptAll } from './accept-all-event.ts'
import type { Left } from './use-left.ts'

const ConfirmDialog = preloadDialog(async () => ({
  default: (await import('../../components/confirm-dialog.tsx')).ConfirmDialog,
}))

interface AcceptAllProps {
  filters: TaskFilters
  left: Left & { count: number }
}

/** Accepts all that are left to triage; asks first if the list does not have all of them. */
export function AcceptAll({ filters, left: { count, isExact, tasks } }: AcceptAllProps) {
  const actions = useTaskActions()
  const [isAccepting, setAccepting] = useState(false)
  const [isAsking, asking] = useDisclosure(false)

  async function accept() {
    setAccepting(true)
    try {
      await actions.change(tasks ?? (await fetchMatching(filters)), { triaged: true })
    } catch (error) {
      toast.problem("Couldn't accept all tasks", problemOf(error))
    } finally {
      setAccepting(false)
    }
  }
  const onClick = tasks ? () => void accept() : asking.open
  const latest = useRef(onClick)
  latest.current = onClick
  useEffect(() => onAcceptAll(() => latest.current()), [])
  const number = count.toLocaleString()
  const which = isExact ? `all ${number}` : `the first ${number}`
  return (
    <>
      <Button className="push" variant="default" loading={isAccepting} onClick={onClick}>
        Accept {which}
      </Button>
      <Suspense fallback={<DialogLoading />}>
        {isAsking && (
          <ConfirmDialog
            title={`Accept ${which} tasks?`}
            verb={`Accept ${number}`}
            color="accent"
            // Not after all of them: the page shows the progress.
            onConfirm={async () => void accept()}
            onClose={asking.close}
          >
            <p>
              The list has loaded only some of them. You can stop while they are being accepted, and undo it
              afterwards.
            </p>
          </ConfirmDialog>
        )}
      </Suspense>
    </>
  )
}

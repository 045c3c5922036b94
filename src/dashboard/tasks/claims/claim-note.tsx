import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type Task, taskQuery } from '../../api/queries.ts'
import { clockTime } from '../../components/clock-time.ts'
import { RelativeTime } from '../../components/relative-time.tsx'
import { isPrincipal, useMe } from '../../session/session.ts'
import styles from './claims.module.css'
import { useClaim } from './use-claim.ts'

/** The stream reports no renewal. */
const POLL_MS = 30_000

/** Who works on a task, and until when. */
export function ClaimNote({ task, mayWrite }: { task: Task; mayWrite: boolean }) {
  const { me } = useMe()
  const { claim: claimTask, renew, release, isBusy } = useClaim(task)
  const { claim } = task
  useQuery({ ...taskQuery(task.id), refetchInterval: claim ? POLL_MS : false })
  if (!claim) return null
  const isMine = me !== null && isPrincipal(me, claim.by)
  const buttonProps = { variant: 'default', size: 'compact-sm', disabled: isBusy } as const
  return (
    <section className={styles.claim} aria-label="Claim">
      <span className="breakable">
        {isMine ? (
          'Claimed by you'
        ) : (
          <>
            Claimed by <strong>{claim.by.name}</strong>
          </>
        )}{' '}
        until {clockTime(claim.expiresAt)} (<RelativeTime dateTime={claim.expiresAt} />)
      </span>
      {mayWrite && (
        <span className={styles.buttons}>
          {isMine ? (
            <Button {...buttonProps} onClick={() => void renew(claim.number)}>
              Extend
            </Button>
          ) : (
            <Button {...buttonProps} onClick={() => void claimTask()}>
              Take over
            </Button>
          )}
          <Button {...buttonProps} onClick={() => void release()}>
            Release
          </Button>
        </span>
      )}
    </section>
  )
}

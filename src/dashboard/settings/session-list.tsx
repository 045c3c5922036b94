import { Badge, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schema } from '../api/client.ts'
import { sessionsQuery } from '../api/queries.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { RelativeTime } from '../components/relative-time.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { useMe } from '../session/session.ts'
import { useSignOut } from '../session/sign-out.ts'
import { Row, Rows } from './rows.tsx'

type Session = Schema<'Session'>

interface SessionListProps {
  /** Only those of this person. */
  userId?: string
}

export function SessionList({ userId }: SessionListProps) {
  const query = useQuery(sessionsQuery)
  const { mutate, isBusy } = useMutation('sessions')
  const sessions = query.data?.filter((session) => userId === undefined || session.userId === userId) ?? []
  const end = (id: string) =>
    mutate("Couldn't end the session", () =>
      dataOf(api.DELETE('/api/sessions/{id}', { params: { path: { id } } })),
    )
  return (
    <Rows label="sessions" query={query} queryKey={sessionsQuery.queryKey}>
      {sessions.map((session) => (
        <SessionItem
          key={session.id}
          session={session}
          isOwn={userId !== undefined}
          isBusy={isBusy}
          onEnd={() => void end(session.id)}
        />
      ))}
    </Rows>
  )
}

interface SessionItemProps {
  session: Session
  /** Whether all that are shown belong to the same person. */
  isOwn: boolean
  isBusy: boolean
  onEnd(): void
}

const SessionItem = ({ session, isOwn, isBusy, onEnd }: SessionItemProps) => (
  <Row
    name={browserOf(session.userAgent)}
    beside={session.isCurrent && <Badge>This browser</Badge>}
    details={
      <>
        {!isOwn && `${session.userId === null ? 'Key ' : ''}${session.name} · `}last seen{' '}
        <RelativeTime dateTime={session.lastSeenAt} /> · signed in{' '}
        <RelativeTime dateTime={session.createdAt} />
      </>
    }
    actions={
      !session.isCurrent && (
        <Button variant="default" loading={isBusy} onClick={onEnd}>
          Sign out
        </Button>
      )
    }
  />
)

/** Ends all sessions of the caller, after a confirmation. */
export function SignOutEverywhere() {
  const { me } = useMe()
  const signOut = useSignOut()
  const [isConfirming, setConfirming] = useState(false)
  return (
    <>
      <Button variant="default" onClick={() => setConfirming(true)}>
        Sign out everywhere
      </Button>
      {isConfirming && (
        <ConfirmDialog
          title="Sign out everywhere?"
          verb="Sign out everywhere"
          onClose={() => setConfirming(false)}
          onConfirm={() => signOut('all-sessions')}
        >
          {me?.user
            ? 'You are signed out in all browsers, including this one.'
            : 'All browsers that use your key are signed out, including this one.'}
        </ConfirmDialog>
      )}
    </>
  )
}

function browserOf(userAgent: string | null): string {
  if (!userAgent) return 'Unknown browser'
  const browser = [
    ['Firefox', 'Firefox/'],
    ['Edge', 'Edg/'],
    ['Chrome', 'Chrome/'],
    ['Safari', 'Safari/'],
  ].find(([, token]) => token && userAgent.includes(token))?.[0]
  const system = ['Windows', 'Android', 'iPhone', 'Mac OS', 'Linux'].find((name) => userAgent.includes(name))
  return [browser ?? userAgent.slice(0, 40), system].filter(Boolean).join(' on ')
}

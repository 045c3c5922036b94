import { Badge, Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { sessionsQuery } from '../api/queries.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { LoadError } from '../components/load-error.tsx'
import { RelativeTime } from '../components/relative-time.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { useSignOut } from '../session/session.ts'
import { PageHeader } from './page-header.tsx'
import styles from './settings.module.css'

export default function SessionsPage() {
  const query = useQuery(sessionsQuery)
  const { mutate, isBusy } = useMutation('sessions')
  const signOut = useSignOut()
  const [isConfirming, setConfirming] = useState(false)
  return (
    <div className={styles.content}>
      <PageHeader
        title="Sessions"
        action={
          <Button variant="default" onClick={() => setConfirming(true)}>
            Sign out everywhere
          </Button>
        }
      >
        Browsers that are signed in. A session ends with its key, or after 12 hours of inactivity.
      </PageHeader>
      {query.isPending && <Skeleton height={120} />}
      {query.isError && <LoadError what="sessions" query={query} />}
      <ul className={styles.rows}>
        {query.data?.map((session) => (
          <li key={session.id} className={styles.item}>
            <div className={styles.main}>
              <div className="row row-wrap">
                <strong>{browserOf(session.userAgent)}</strong>
                {session.isCurrent && (
                  <Badge variant="default" tt="none">
                    this browser
                  </Badge>
                )}
              </div>
              <div className="quiet small">
                Key {session.name} · last seen <RelativeTime dateTime={session.lastSeenAt} /> · signed in{' '}
                <RelativeTime dateTime={session.createdAt} />
              </div>
            </div>
            {!session.isCurrent && (
              <Button
                variant="default"
                loading={isBusy}
                onClick={() =>
                  void mutate("Couldn't end the session", () =>
                    dataOf(api.DELETE('/api/sessions/{id}', { params: { path: { id: session.id } } })),
                  )
                }
              >
                Sign out
              </Button>
            )}
          </li>
        ))}
      </ul>
      {isConfirming && (
        <ConfirmDialog
          title="Sign out everywhere?"
          verb="Sign out everywhere"
          onClose={() => setConfirming(false)}
          onConfirm={() => signOut('all-sessions')}
        >
          All browsers that use your key are signed out, including this one.
        </ConfirmDialog>
      )}
    </div>
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

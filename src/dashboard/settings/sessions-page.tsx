import { Badge, Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { sessionsQuery } from '../api/queries.ts'
import { Confirm } from '../components/confirm-dialog.tsx'
import { NotLoaded } from '../components/load-error.tsx'
import { RelativeTime } from '../components/relative-time.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { useSignOut } from '../session/session.ts'
import { PageHead } from './page-header.tsx'
import styles from './settings.module.css'

/** Where somebody is signed in. */
export function SessionsPage() {
  const query = useQuery(sessionsQuery)
  const { act, isBusy } = useMutation('sessions')
  const signOut = useSignOut()
  const [isAsking, setAsking] = useState(false)
  return (
    <div className={styles.content}>
      <PageHead
        title="Sessions"
        action={
          <Button variant="default" onClick={() => setAsking(true)}>
            Sign out everywhere
          </Button>
        }
      >
        Every browser that is signed in. A session ends with its key, and after 12 hours without a request.
      </PageHead>
      {query.isPending && <Skeleton height={120} />}
      {query.isError && <NotLoaded what="The sessions" query={query} />}
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
                Key {session.name} · last seen <RelativeTime at={session.lastSeenAt} /> · since{' '}
                <RelativeTime at={session.createdAt} />
              </div>
            </div>
            {!session.isCurrent && (
              <Button
                variant="default"
                loading={isBusy}
                onClick={() =>
                  void act('The session was not ended', () =>
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
      {isAsking && (
        <Confirm
          title="Sign out everywhere?"
          verb="Sign out everywhere"
          onClose={() => setAsking(false)}
          onConfirm={() => signOut('everywhere')}
        >
          Every browser that signed in with your key is signed out, this one too.
        </Confirm>
      )}
    </div>
  )
}

function browserOf(userAgent: string | null): string {
  if (!userAgent) return 'An unknown browser'
  const browser = [
    ['Firefox', 'Firefox/'],
    ['Edge', 'Edg/'],
    ['Chrome', 'Chrome/'],
    ['Safari', 'Safari/'],
  ].find(([, mark]) => mark && userAgent.includes(mark))?.[0]
  const system = ['Windows', 'Android', 'iPhone', 'Mac OS', 'Linux'].find((name) => userAgent.includes(name))
  return [browser ?? userAgent.slice(0, 40), system].filter(Boolean).join(' on ')
}

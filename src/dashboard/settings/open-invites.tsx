import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, dataOf, type Schema } from '../api/client.ts'
import { invitesQuery } from '../api/people-queries.ts'
import type { Project } from '../api/queries.ts'
import { LoadError } from '../components/load-error.tsx'
import { RelativeTime } from '../components/relative-time.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { projectsText, ROLES, type User } from './people-text.ts'
import styles from './settings.module.css'

interface OpenInvitesProps {
  users: User[]
  projects: Project[]
}

/** Invites that can still be accepted. */
export function OpenInvites({ users, projects }: OpenInvitesProps) {
  const query = useQuery(invitesQuery)
  const { mutate, isBusy } = useMutation('invites')
  const withdraw = (id: string) =>
    mutate("Couldn't withdraw the invite", () =>
      dataOf(api.DELETE('/api/invites/{id}', { params: { path: { id } } })),
    )
  if (query.isError) return <LoadError what="invites" query={query} />
  if (!query.data || query.data.length === 0) return null
  return (
    <section className={styles.section}>
      <h2>Open invites</h2>
      <ul className={styles.rows} aria-label="Open invites">
        {query.data.map((invite) => {
          const name = invite.name ?? users.find(({ id }) => id === invite.userId)?.name ?? 'a person'
          return (
            <li key={invite.id} className={styles.item}>
              <div className={styles.main}>
                <strong>{name}</strong>
                <div className="quiet small">
                  {invite.email && `${invite.email} · `}
                  {accessText(invite, projects)} · invited by {invite.invitedBy.name} · expires{' '}
                  <RelativeTime dateTime={invite.expiresAt} />
                </div>
              </div>
              <Button
                variant="default"
                loading={isBusy}
                aria-label={`Withdraw the invite for ${name}`}
                onClick={() => void withdraw(invite.id)}
              >
                Withdraw
              </Button>
            </li>
          )
        })}
      </ul>
    </section>
  )
}

const accessText = ({ role, projectIds }: Schema<'Invite'>, projects: Project[]) =>
  role === null ? 'New password' : `${ROLES[role].label} · ${projectsText(projectIds, projects)}`

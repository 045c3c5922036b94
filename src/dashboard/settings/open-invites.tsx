import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, dataOf, type Schema } from '../api/client.ts'
import { invitesQuery } from '../api/people-queries.ts'
import type { Project } from '../api/queries.ts'
import { RelativeTime } from '../components/relative-time.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { projectsText, ROLES, type User } from './people-text.ts'
import { Row, Rows } from './rows.tsx'
import { Section } from './section.tsx'

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
  const { data: invites = [] } = query
  if (invites.length === 0 && !query.isError) return null
  return (
    <Section title="Open invites">
      <Rows label="open invites" query={query} queryKey={invitesQuery.queryKey}>
        {invites.map((invite) => {
          const name = invite.name ?? users.find(({ id }) => id === invite.userId)?.name ?? 'a person'
          return (
            <Row
              key={invite.id}
              name={name}
              details={
                <>
                  {invite.email && `${invite.email} · `}
                  {accessText(invite, projects)} · invited by {invite.invitedBy.name} · expires{' '}
                  <RelativeTime dateTime={invite.expiresAt} />
                </>
              }
              actions={
                <Button
                  variant="default"
                  loading={isBusy}
                  aria-label={`Withdraw the invite for ${name}`}
                  onClick={() => void withdraw(invite.id)}
                >
                  Withdraw
                </Button>
              }
            />
          )
        })}
      </Rows>
    </Section>
  )
}

const accessText = ({ role, projectIds }: Schema<'Invite'>, projects: Project[]) =>
  role === null ? 'New password' : `${ROLES[role].label} · ${projectsText(projectIds, projects)}`

import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schema } from '../api/client.ts'
import { usersQuery } from '../api/people-queries.ts'
import { projectsQuery } from '../api/queries.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { offerUndo, undoRequest } from '../components/undo.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { useOpened } from '../navigation/use-opened.ts'
import { AccessDialog } from './access-dialog.tsx'
import { InviteDialog } from './invite-dialog.tsx'
import { InviteLinkDialog } from './invite-link-dialog.tsx'
import { KeysToRotate } from './keys-to-rotate.tsx'
import { OpenInvites } from './open-invites.tsx'
import { PageHeader } from './page-header.tsx'
import type { User } from './people-text.ts'
import { PersonItem } from './person-item.tsx'
import { Rows } from './rows.tsx'

/** What has no address: it is asked or shown once. */
type Dialog =
  | { kind: 'link'; invite: Schema<'InviteWithSecret'>; name: string }
  | { kind: 'deactivate'; user: User }

export default function PeoplePage() {
  const query = useQuery(usersQuery)
  const { data: projects = [] } = useQuery(projectsQuery)
  const { mutate, refresh } = useMutation('users', 'invites', 'keys')
  const inviting = useOpened('invite')
  const access = useOpened('access')
  const withAccess = query.data?.find(({ id }) => id === access.opened)
  const rotating = useOpened('rotate-keys')
  const withKeys = query.data?.find(({ id, isActive }) => id === rotating.opened && !isActive)
  const [dialog, setDialog] = useState<Dialog>()
  const close = () => setDialog(undefined)
  const inviteButton = <Button onClick={() => inviting.open('new')}>Invite a person</Button>

  const setActive = ({ id }: User, isActive: boolean) =>
    dataOf(api.PATCH('/api/users/{id}', { params: { path: { id } }, body: { isActive } }))

  async function deactivate(user: User) {
    const { keysToRotate } = await setActive(user, false)
    await refresh()
    const reactivation = undoRequest(`${user.name} is deactivated.`, async () => {
      await setActive(user, true)
      await refresh()
    })
    offerUndo({ ...reactivation, endsWithToast: true })
    if (keysToRotate.length > 0) rotating.open(user.id)
  }

  async function createLink({ id, name }: User) {
    const invite = await mutate("Couldn't create the link", () =>
      dataOf(api.POST('/api/invites', { body: { userId: id } })),
    )
    if (invite) setDialog({ kind: 'link', invite, name })
  }

  return (
    <>
      <PageHeader title="People" action={query.data?.length !== 0 && inviteButton}>
        People who can sign in to the dashboard. Roles and projects limit what a person can do.
      </PageHeader>
      <Rows
        label="people"
        query={query}
        queryKey={usersQuery.queryKey}
        empty={
          <EmptyState
            title="No people yet"
            description="Invite somebody: you get a link to send, with which the person creates an account. Invite an owner first, or create your own account."
            action={inviteButton}
          />
        }
      >
        {(query.data ?? []).map((user) => (
          <PersonItem
            key={user.id}
            user={user}
            projects={projects}
            onChangeAccess={() => access.open(user.id)}
            onNewPassword={() => void createLink(user)}
            onDeactivate={() => setDialog({ kind: 'deactivate', user })}
            onReactivate={() => void mutate(`Couldn't reactivate ${user.name}`, () => setActive(user, true))}
          />
        ))}
      </Rows>
      <OpenInvites users={query.data ?? []} projects={projects} />
      {inviting.opened === 'new' && (
        <InviteDialog
          onClose={inviting.close}
          onCreated={(invite) => {
            void inviting.close()
            setDialog({ kind: 'link', invite, name: invite.name ?? '' })
          }}
        />
      )}
      {dialog?.kind === 'link' && (
        <InviteLinkDialog invite={dialog.invite} name={dialog.name} onStored={close} />
      )}
      {withAccess && <AccessDialog key={withAccess.id} user={withAccess} onClose={access.close} />}
      {dialog?.kind === 'deactivate' && (
        <ConfirmDialog
          title={`Deactivate ${dialog.user.name}?`}
          verb="Deactivate"
          onClose={close}
          onConfirm={() => deactivate(dialog.user)}
        >
          {dialog.user.name} is signed out everywhere and can't sign in any more. Claims of tasks and personal
          keys end for good. What {dialog.user.name} wrote stays. You can reactivate the account later.
        </ConfirmDialog>
      )}
      {withKeys && <KeysToRotate user={withKeys} onClose={rotating.close} />}
    </>
  )
}

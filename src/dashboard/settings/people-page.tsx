import { Button, Modal } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schema } from '../api/client.ts'
import { usersQuery } from '../api/people-queries.ts'
import { projectsQuery } from '../api/queries.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { offerUndo, undoRequest } from '../components/undo.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { Link } from '../navigation/link.tsx'
import { useOpened } from '../navigation/use-opened.ts'
import { AccessDialog } from './access-dialog.tsx'
import { InviteDialog } from './invite-dialog.tsx'
import { InviteLinkDialog } from './invite-link-dialog.tsx'
import { OpenInvites } from './open-invites.tsx'
import { PageHeader } from './page-header.tsx'
import type { User } from './people-text.ts'
import { PersonItem } from './person-item.tsx'
import { Rows } from './rows.tsx'

type KeyToRotate = Schema<'ChangedUser'>['keysToRotate'][number]

/** What has no address: it is asked or shown once. */
type Dialog =
  | { kind: 'link'; invite: Schema<'InviteWithSecret'>; name: string }
  | { kind: 'deactivate'; user: User }
  | { kind: 'keys'; name: string; keys: KeyToRotate[] }

export default function PeoplePage() {
  const query = useQuery(usersQuery)
  const { data: projects = [] } = useQuery(projectsQuery)
  const { mutate, refresh } = useMutation('users', 'invites')
  const inviting = useOpened('invite')
  const access = useOpened('access')
  const withAccess = query.data?.find(({ id }) => id === access.opened)
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
    if (keysToRotate.length > 0) setDialog({ kind: 'keys', name: user.name, keys: keysToRotate })
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
          // The keys to rotate may be shown instead.
          onClose={() => setDialog((shown) => (shown?.kind === 'deactivate' ? undefined : shown))}
          onConfirm={() => deactivate(dialog.user)}
        >
          {dialog.user.name} is signed out everywhere and can't sign in any more. Claims of tasks and personal
          keys end for good. What {dialog.user.name} wrote stays. You can reactivate the account later.
        </ConfirmDialog>
      )}
      {dialog?.kind === 'keys' && <KeysToRotate {...dialog} onClose={close} />}
    </>
  )
}

interface KeysToRotateProps {
  name: string
  keys: KeyToRotate[]
  onClose(): void
}

const KeysToRotate = ({ name, keys, onClose }: KeysToRotateProps) => (
  <Modal opened onClose={onClose} title={`Rotate the keys of ${name}`}>
    <div className="stack">
      <div>{name} is deactivated, but created these API keys and may still know their secrets:</div>
      <ul style={{ margin: 0, paddingInlineStart: 20 }}>
        {keys.map((key) => (
          <li key={key.id} className="breakable">
            {key.name}
          </li>
        ))}
      </ul>
      <div className="row">
        <Link to="/settings/keys" className="target">
          Open API keys
        </Link>
        <Button variant="default" onClick={onClose} className="push">
          Close
        </Button>
      </div>
    </div>
  </Modal>
)

import { Modal } from '@mantine/core'
import { useRef } from 'react'
import { api, dataOf, responseOf, type Schema } from '../api/client.ts'
import { type NewPerson, NewPersonForm } from '../session/new-person-form.tsx'

/** Creates an owner by an invite that is accepted at once, and continues as that person. */
export default function FirstOwnerDialog({ onClose }: { onClose(): void }) {
  const invite = useRef<Schema<'InviteWithSecret'>>(undefined)

  async function create(person: NewPerson) {
    const { username } = person
    invite.current ??= await dataOf(
      api.POST('/api/invites', { body: { name: person.name ?? username, role: 'owner' } }),
    )
    const { secret } = invite.current
    await responseOf(api.POST('/api/invites/accept', { body: { secret, ...person } }), { isSignIn: true })
    invite.current = undefined
    // What the key has loaded and stored is dropped by the load.
    location.reload()
  }

  /** An invite that was refused would stay open. */
  function close() {
    if (invite.current)
      void api.DELETE('/api/invites/{id}', { params: { path: { id: invite.current.id } } }).catch(() => {})
    onClose()
  }

  return (
    <Modal opened onClose={close} closeOnClickOutside={false} title="Create your account">
      <div className="stack">
        <p className="quiet" style={{ margin: 0 }}>
          You become an owner, with access to everything. API keys keep working, and an admin key stays the
          way back in.
        </p>
        <NewPersonForm verb="Create account" onSubmit={create} />
      </div>
    </Modal>
  )
}

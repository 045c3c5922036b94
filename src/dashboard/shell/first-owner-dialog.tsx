import { Modal } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { api, dataOf, responseOf, type Schema } from '../api/client.ts'
import { firstOwnerQuery } from '../api/people-queries.ts'
import { type NewPerson, NewPersonForm } from '../session/new-person-form.tsx'

/** Creates an owner by an invite that is accepted at once, and continues as that person. Nothing where there is one. */
export default function FirstOwnerDialog({ onClose }: { onClose(): Promise<void> }) {
  const { data: hasOwner = true } = useQuery(firstOwnerQuery)
  const invite = useRef<Schema<'InviteWithSecret'>>(undefined)

  async function create(person: NewPerson) {
    const { username } = person
    invite.current ??= await dataOf(
      api.POST('/api/invites', { body: { name: person.name ?? username, role: 'owner' } }),
    )
    const { secret } = invite.current
    await responseOf(api.POST('/api/invites/accept', { body: { secret, ...person } }), { isSignIn: true })
    invite.current = undefined
    await onClose()
    // What the key has loaded and stored is dropped by the load.
    location.reload()
  }

  useEffect(
    () => () => {
      // An invite that was refused would stay open.
      if (invite.current)
        void api.DELETE('/api/invites/{id}', { params: { path: { id: invite.current.id } } }).catch(() => {})
    },
    [],
  )

  if (hasOwner) return null
  return (
    <Modal opened onClose={() => void onClose()} closeOnClickOutside={false} title="Create your account">
      <div className="stack">
        <p className="quiet" style={{ margin: 0 }}>
          You become an owner, with access to everything. API keys keep working, and an admin key stays the
          way back in.
        </p>
        <NewPersonForm
          verb="Create account"
          draftName="first-owner"
          onSubmit={create}
          onCancel={() => void onClose()}
        />
      </div>
    </Modal>
  )
}

import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schema } from '../api/client.ts'
import { passkeysQuery, signInWaysQuery } from '../api/people-queries.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { RelativeTime } from '../components/relative-time.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { useOpened } from '../navigation/use-opened.ts'
import { hasPasskeys } from '../session/passkey.ts'
import { useSignInAgain } from '../session/sign-in-again.tsx'
import { LastTime } from './last-time.tsx'
import { NewPasskeyDialog } from './new-passkey-dialog.tsx'
import { Row, Rows } from './rows.tsx'
import { Section } from './section.tsx'

type Passkey = Schema<'Passkey'>

/** The passkeys of who is signed in. */
export function PasskeySection() {
  const query = useQuery(passkeysQuery)
  const { data: ways } = useQuery(signInWaysQuery)
  const { refresh } = useMutation('passkeys')
  const adding = useOpened('passkey')
  const [removing, setRemoving] = useState<Passkey>()
  const { recently, dialog } = useSignInAgain(
    'You signed in more than ten minutes ago. Sign in to change your passkeys.',
  )
  const isPossible = ways?.passkeys && hasPasskeys()

  return (
    <Section
      title="Passkeys"
      action={
        isPossible && (
          <Button variant="default" onClick={() => adding.open('new')}>
            Add passkey
          </Button>
        )
      }
      description="Sign in with your fingerprint, face or PIN, without a username or password."
    >
      {ways?.passkeys === false && <NotHere />}
      {ways?.passkeys && !hasPasskeys() && (
        <p className="small">This browser can't use passkeys. Update it, or use another one.</p>
      )}
      <Rows label="passkeys" query={query} queryKey={passkeysQuery.queryKey}>
        {(query.data ?? []).map((passkey) => (
          <PasskeyItem key={passkey.id} passkey={passkey} onRemove={() => setRemoving(passkey)} />
        ))}
      </Rows>
      {isPossible && adding.opened === 'new' && (
        <NewPasskeyDialog
          recently={recently}
          onClose={adding.close}
          onAdded={() => {
            void adding.close()
            void refresh()
          }}
        />
      )}
      {removing && (
        <ConfirmDialog
          title={`Remove “${removing.name}”?`}
          verb="Remove passkey"
          onClose={() => setRemoving(undefined)}
          onConfirm={async () => {
            const path = { id: removing.id }
            await recently(() => dataOf(api.DELETE('/api/me/passkeys/{id}', { params: { path } })))
            await refresh()
          }}
        >
          You can't sign in with it any more. Delete it on your device, too: Inlet can't.
        </ConfirmDialog>
      )}
      {dialog}
    </Section>
  )
}

/** What an operator does where browsers allow none. */
const NotHere = () => (
  <p className="small">
    Browsers don't allow passkeys at this address. Set <code>PUBLIC_URL</code> to an address that begins with{' '}
    <code>https://</code> and has a host name. On this machine, <code>http://localhost</code> works, too.
  </p>
)

const PasskeyItem = ({ passkey, onRemove }: { passkey: Passkey; onRemove(): void }) => (
  <Row
    name={passkey.name}
    isOff={!isUsable(passkey)}
    details={
      <>
        {!isUsable(passkey) && `only works at ${passkey.rpId} · `}added{' '}
        <RelativeTime dateTime={passkey.createdAt} /> · <LastTime verb="used" dateTime={passkey.lastUsedAt} />
      </>
    }
    actions={
      <Button variant="default" onClick={onRemove} aria-label={`Remove ${passkey.name}`}>
        Remove
      </Button>
    }
  />
)

const isUsable = ({ rpId }: Passkey) => rpId === location.hostname

import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schema } from '../api/client.ts'
import { passkeysQuery, signInWaysQuery } from '../api/people-queries.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { LoadError } from '../components/load-error.tsx'
import { RelativeTime } from '../components/relative-time.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { useOpened } from '../navigation/use-opened.ts'
import { hasPasskeys } from '../session/passkey.ts'
import { useSignInAgain } from '../session/sign-in-again.tsx'
import { NewPasskeyDialog } from './new-passkey-dialog.tsx'
import styles from './settings.module.css'

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
    <section className={styles.section}>
      <div className="row row-wrap" style={{ justifyContent: 'space-between' }}>
        <h2>Passkeys</h2>
        {isPossible && (
          <Button variant="default" onClick={() => adding.open('new')}>
            Add passkey
          </Button>
        )}
      </div>
      <p className="quiet small" style={{ margin: 0 }}>
        Sign in with your fingerprint, face or PIN, without a username or password.
      </p>
      {ways?.passkeys === false && <NotHere />}
      {ways?.passkeys && !hasPasskeys() && (
        <p className="small" style={{ margin: 0 }}>
          This browser can't use passkeys. Update it, or use another one.
        </p>
      )}
      {query.isPending && <Skeleton height={60} />}
      {query.isError && <LoadError what="passkeys" query={query} />}
      {query.data && query.data.length > 0 && (
        <ul className={styles.rows} aria-label="Passkeys">
          {query.data.map((passkey) => (
            <PasskeyItem key={passkey.id} passkey={passkey} onRemove={() => setRemoving(passkey)} />
          ))}
        </ul>
      )}
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
    </section>
  )
}

/** What an operator does where browsers allow none. */
const NotHere = () => (
  <p className="small" style={{ margin: 0 }}>
    Browsers don't allow passkeys at this address. Set <code>PUBLIC_URL</code> to an address that begins with{' '}
    <code>https://</code> and has a host name. On this machine, <code>http://localhost</code> works, too.
  </p>
)

const PasskeyItem = ({ passkey, onRemove }: { passkey: Passkey; onRemove(): void }) => (
  <li className={`${styles.item} ${isUsable(passkey) ? '' : styles.off}`}>
    <div className={styles.main}>
      <strong>{passkey.name}</strong>
      <div className="quiet small">
        {!isUsable(passkey) && `only works at ${passkey.rpId} · `}added{' '}
        <RelativeTime dateTime={passkey.createdAt} /> ·{' '}
        {passkey.lastUsedAt ? (
          <>
            last used <RelativeTime dateTime={passkey.lastUsedAt} />
          </>
        ) : (
          'never used'
        )}
      </div>
    </div>
    <Button variant="default" onClick={onRemove} aria-label={`Remove ${passkey.name}`}>
      Remove
    </Button>
  </li>
)

const isUsable = ({ rpId }: Passkey) => rpId === location.hostname

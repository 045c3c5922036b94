import { ActionIcon, Badge, Button, Menu, Skeleton } from '@mantine/core'
import { KebabHorizontalIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schema } from '../api/client.ts'
import { keysQuery, projectsQuery } from '../api/queries.ts'
import { serverNow } from '../api/server-clock.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { CurlExample } from '../components/curl-example.tsx'
import { LoadError } from '../components/load-error.tsx'
import { RelativeTime } from '../components/relative-time.tsx'
import { SecretDialog } from '../components/secret-dialog.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { NewKeyDialog } from './new-key-dialog.tsx'
import { PageHeader } from './page-header.tsx'
import styles from './settings.module.css'

type Key = Schema<'ApiKey'>

export default function KeysPage() {
  const query = useQuery(keysQuery)
  const { mutate, refresh } = useMutation('keys')
  const [isCreating, setCreating] = useState(false)
  const [secret, setSecret] = useState<{ name: string; key: string }>()
  const [revoking, setRevoking] = useState<Key>()

  async function rotate(key: Key) {
    const rotated = await mutate("Couldn't rotate the key", () =>
      dataOf(api.POST('/api/keys/{id}/rotate', { params: { path: { id: key.id } }, body: {} })),
    )
    if (rotated) setSecret(rotated)
  }

  return (
    <div className={styles.content}>
      <PageHeader title="API keys" action={<Button onClick={() => setCreating(true)}>Create key</Button>}>
        Use API keys to call the API, to connect AI assistants and to sign in to the dashboard. Scopes limit
        what a key can do.
      </PageHeader>
      {query.isPending && <Skeleton height={160} />}
      {query.isError && <LoadError what="API keys" query={query} />}
      {query.data && (
        <ul className={styles.rows}>
          {query.data.map((key) => (
            <KeyItem
              key={key.id}
              apiKey={key}
              onRotate={() => void rotate(key)}
              onRevoke={() => setRevoking(key)}
            />
          ))}
        </ul>
      )}
      <CurlExample path="/api/me" caption="Show the scopes of a key:" />
      {isCreating && (
        <NewKeyDialog
          onClose={() => setCreating(false)}
          onCreated={(created) => {
            setCreating(false)
            setSecret(created)
          }}
        />
      )}
      {secret && (
        <SecretDialog
          title={`API key “${secret.name}”`}
          secret={secret.key}
          example={`curl -s ${location.origin}/api/me -H 'X-API-Key: ${secret.key}'`}
          onStored={() => setSecret(undefined)}
        />
      )}
      {revoking && (
        <ConfirmDialog
          title={`Revoke “${revoking.name}”?`}
          verb="Revoke key"
          onClose={() => setRevoking(undefined)}
          onConfirm={async () => {
            await dataOf(api.DELETE('/api/keys/{id}', { params: { path: { id: revoking.id } } }))
            await refresh()
          }}
        >
          Requests with this key fail immediately, and its sessions are signed out. This can't be undone.
        </ConfirmDialog>
      )}
    </div>
  )
}

function KeyItem({ apiKey: key, onRotate, onRevoke }: { apiKey: Key; onRotate(): void; onRevoke(): void }) {
  const { data: projects } = useQuery(projectsQuery)
  const project = projects?.find(({ id }) => id === key.projectId)
  const isExpired = key.expiresAt !== null && Date.parse(key.expiresAt) < serverNow()
  return (
    <li className={`${styles.item} ${isExpired ? styles.off : ''}`}>
      <div className={styles.main}>
        <div className="row row-wrap">
          <strong>{key.name}</strong>
          <code className="quiet">
            {key.prefix && `inl_${key.prefix}_`}…{key.lastFour}
          </code>
          {project && (
            <Badge variant="default" tt="none">
              {project.name} only
            </Badge>
          )}
        </div>
        <div className="quiet small">
          {key.scopes.join(', ')}
          {key.createdBy && ` · created by ${key.createdBy.name}`} ·{' '}
          {key.lastUsedAt ? (
            <>
              used <RelativeTime dateTime={key.lastUsedAt} />
            </>
          ) : (
            'never used'
          )}
          {key.expiresAt && (
            <>
              {' '}
              · {isExpired ? 'expired' : 'expires'} <RelativeTime dateTime={key.expiresAt} />
            </>
          )}
          {key.previousSecretExpiresAt && Date.parse(key.previousSecretExpiresAt) > serverNow() && (
            <>
              {' '}
              · previous secret expires <RelativeTime dateTime={key.previousSecretExpiresAt} />
            </>
          )}
        </div>
      </div>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon aria-label={`Actions for ${key.name}`}>
            <KebabHorizontalIcon size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={onRotate}>Rotate secret (old one works for 24 hours)</Menu.Item>
          <Menu.Item c="var(--red)" onClick={onRevoke}>
            Revoke
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </li>
  )
}

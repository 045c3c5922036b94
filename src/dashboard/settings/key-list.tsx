import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { Schema } from '../api/client.ts'
import { projectsQuery } from '../api/queries.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { SecretDialog } from '../components/secret-dialog.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { KeyItem } from './key-item.tsx'
import { NewKeyDialog, type NewKeyFields } from './new-key-dialog.tsx'
import { Rows } from './rows.tsx'

type Key = Schema<'ApiKey'>
type KeyWithSecret = Schema<'ApiKeyWithSecret'>

interface KeyListProps {
  /** What they are called in the plural. */
  label: string
  query: UseQueryResult<Key[]>
  queryKey: readonly unknown[]
  /** Shown if there are none. */
  empty?: ReactNode
  /** Whether they are the personal keys of who looks at them. */
  isOwn?: boolean
  /** What the dialog of a new key offers; undefined while there is none. */
  creating: NewKeyFields | undefined
  onCreated(): void
  rotate(id: string): Promise<KeyWithSecret>
  revoke(id: string): Promise<unknown>
}

/** Keys with what can be done with them. Shows each new secret once. */
export function KeyList({ isOwn = false, creating, onCreated, rotate, revoke, ...list }: KeyListProps) {
  const { data: projects } = useQuery(projectsQuery)
  const { mutate, refresh } = useMutation('keys')
  const [secret, setSecret] = useState<KeyWithSecret>()
  const [revoking, setRevoking] = useState<Key>()

  async function showRotated(key: Key) {
    const rotated = await mutate("Couldn't rotate the key", () => rotate(key.id))
    if (rotated) setSecret(rotated)
  }

  return (
    <>
      <Rows {...list}>
        {(list.query.data ?? []).map((key) => (
          <KeyItem
            key={key.id}
            apiKey={key}
            project={projects?.find(({ id }) => id === key.projectId)?.name}
            isOwn={isOwn}
            onRotate={() => void showRotated(key)}
            onRevoke={() => setRevoking(key)}
          />
        ))}
      </Rows>
      {creating && (
        <NewKeyDialog
          {...creating}
          onClose={onCreated}
          onCreated={(created) => {
            onCreated()
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
            await revoke(revoking.id)
            await refresh()
          }}
        >
          Requests with this key fail immediately
          {revoking.userId === null && ', and its sessions are signed out'}. This can't be undone.
        </ConfirmDialog>
      )}
    </>
  )
}

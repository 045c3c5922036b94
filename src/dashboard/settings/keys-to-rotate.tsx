import { Button, Modal } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Schema } from '../api/client.ts'
import { keysQuery } from '../api/queries.ts'
import { serverNow } from '../api/server-clock.ts'
import { LoadError } from '../components/load-error.tsx'
import { Loading } from '../components/loading.tsx'
import { Link } from '../navigation/link.tsx'
import type { User } from './people-text.ts'

/** The keys of other systems that somebody created who is deactivated now. */
export function KeysToRotate({ user: { id, name }, onClose }: { user: User; onClose(): void }) {
  const query = useQuery(keysQuery)
  const keys = (query.data ?? []).filter((key) => isCreatedBy(id, key))
  return (
    <Modal opened onClose={onClose} title={`Rotate the keys of ${name}`}>
      <div className="stack">
        {query.isPending && (
          <Loading what="the keys" height={60} query={query} queryKey={keysQuery.queryKey} />
        )}
        {query.isError && <LoadError what="the keys" query={query} />}
        {query.isSuccess && (
          <>
            <div>
              {keys.length > 0
                ? `${name} is deactivated, but created these API keys and may still know their secrets:`
                : `${name} is deactivated, and no API key is left that ${name} created.`}
            </div>
            <ul style={{ margin: 0, paddingInlineStart: 20 }}>
              {keys.map((key) => (
                <li key={key.id} className="breakable">
                  {key.name}
                </li>
              ))}
            </ul>
          </>
        )}
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
}

const isCreatedBy = (userId: string, { createdBy, userId: ownerId, expiresAt }: Schema<'ApiKey'>) =>
  createdBy?.id === userId && ownerId === null && (expiresAt === null || Date.parse(expiresAt) > serverNow())

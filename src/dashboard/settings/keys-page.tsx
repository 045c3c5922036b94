import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, dataOf, responseOf } from '../api/client.ts'
import { keysQuery } from '../api/queries.ts'
import { CurlExample } from '../components/curl-example.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { useOpened } from '../navigation/use-opened.ts'
import { useMe } from '../session/session.ts'
import { KeyList } from './key-list.tsx'
import { ALL_SCOPES, type NewKey } from './new-key-dialog.tsx'
import { PageHeader } from './page-header.tsx'

export default function KeysPage() {
  const query = useQuery(keysQuery)
  const { isServiceWide } = useMe()
  const { opened, open, close } = useOpened('key')
  const creating = {
    title: 'Create API key',
    description: 'Shown as the author of everything done with this key.',
    scopes: ALL_SCOPES,
    hasProjects: isServiceWide,
    create: (body: NewKey) => dataOf(api.POST('/api/keys', { body })),
  }
  const create = <Button onClick={() => open('new')}>Create key</Button>
  return (
    <>
      <PageHeader title="API keys" action={query.data?.length !== 0 && create}>
        Use API keys to call the API, to connect AI assistants and to sign in to the dashboard. Scopes limit
        what a key can do.
      </PageHeader>
      <KeyList
        label="API keys"
        query={query}
        queryKey={keysQuery.queryKey}
        empty={
          <EmptyState
            title="No API keys yet"
            description="Create one for each program and assistant, so that each can be revoked by itself."
            action={create}
          />
        }
        creating={opened === 'new' ? creating : undefined}
        onCreated={close}
        rotate={(id) => dataOf(api.POST('/api/keys/{id}/rotate', { params: { path: { id } }, body: {} }))}
        revoke={(id) => responseOf(api.DELETE('/api/keys/{id}', { params: { path: { id } } }))}
      />
      <CurlExample path="/api/me" caption="Show the scopes of a key:" />
    </>
  )
}

import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { identityProvidersQuery } from '../api/provider-queries.ts'
import { EmptyState } from '../components/empty-state.tsx'
import { useOpened } from '../navigation/use-opened.ts'
import { PageHeader } from './page-header.tsx'
import { ProviderDialog } from './provider-dialog.tsx'
import { ProviderItem } from './provider-item.tsx'
import { ProviderTest } from './provider-test.tsx'
import { Rows } from './rows.tsx'

const MAX_PROVIDERS = 5

/** The identity providers that people sign in with. */
export default function ProvidersPage() {
  const query = useQuery(identityProvidersQuery)
  const { opened, open, close } = useOpened('provider')
  const test = useOpened('test')
  const providers = query.data ?? []
  const tested = providers.find(({ id }) => id === test.opened)
  const edited = providers.find(({ id, createdAt }) => id === opened && createdAt !== null)
  const isFull = providers.filter(({ createdAt }) => createdAt !== null).length >= MAX_PROVIDERS
  const add = (
    <Button onClick={() => open('new')} disabled={isFull}>
      Add a provider
    </Button>
  )
  return (
    <>
      <PageHeader title="Sign-in" action={query.data?.length !== 0 && add}>
        People sign in with a password, or with the account that they have at one of these identity providers
        (OpenID Connect).
      </PageHeader>
      {providers.some(({ redirectUrl }) => redirectUrl === null) && (
        <p role="alert">
          <code>PUBLIC_URL</code> is not set, so nobody can sign in with these. Set it to the address of this
          service, such as <code>https://inlet.example.com</code>, and restart Inlet.
        </p>
      )}
      <Rows
        label="identity providers"
        query={query}
        queryKey={identityProvidersQuery.queryKey}
        empty={
          <EmptyState
            title="No identity providers yet"
            description="Register Inlet with Keycloak, Google, Entra, Authentik or another provider, and add it here. PUBLIC_URL must be set: providers send people back to it."
            action={add}
          />
        }
      >
        {providers.map((provider) => (
          <ProviderItem
            key={provider.id}
            provider={provider}
            onEdit={() => open(provider.id)}
            onTest={() => test.open(provider.id)}
          />
        ))}
      </Rows>
      {(edited || (opened === 'new' && query.isSuccess && !isFull)) && (
        <ProviderDialog key={opened} provider={edited} onClose={close} />
      )}
      {tested && <ProviderTest key={tested.id} provider={tested} onClose={test.close} />}
    </>
  )
}

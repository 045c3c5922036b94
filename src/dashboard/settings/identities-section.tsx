import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import { signInWaysQuery } from '../api/people-queries.ts'
import { identitiesQuery } from '../api/provider-queries.ts'
import { useMutation } from '../components/use-mutation.ts'
import { useSignInAgain } from '../session/sign-in-again.tsx'
import { LastTime } from './last-time.tsx'
import { Row, Rows } from './rows.tsx'
import { Section } from './section.tsx'

/** The identity providers of the person; nothing where there are none. */
export function IdentitiesSection() {
  const query = useQuery(identitiesQuery)
  const { data: ways } = useQuery(signInWaysQuery)
  const { mutate, isBusy } = useMutation('identities')
  const { recently, dialog } = useSignInAgain(
    'You signed in more than ten minutes ago. Sign in again to change what you sign in with.',
  )
  const linked = query.data ?? []
  const others = (ways?.providers ?? []).filter(
    ({ id }) => !linked.some(({ providerId }) => providerId === id),
  )
  if (linked.length === 0 && others.length === 0) return null

  async function link(providerId: string) {
    const begun = await mutate("Couldn't link the provider", () =>
      recently(() => dataOf(api.POST('/api/me/identities', { body: { providerId } }))),
    )
    if (begun) location.assign(begun.url)
  }

  const unlink = (id: string) =>
    mutate("Couldn't unlink the provider", () =>
      recently(() => dataOf(api.DELETE('/api/me/identities/{id}', { params: { path: { id } } }))),
    )

  return (
    <Section title="Identity providers">
      <Rows label="identity providers" query={query} queryKey={identitiesQuery.queryKey}>
        {[
          ...linked.map(({ id, providerName, lastUsedAt }) => (
            <Row
              key={id}
              name={providerName ?? 'A provider that was removed'}
              details={<LastTime verb="used" dateTime={lastUsedAt} />}
              actions={
                <Button variant="default" loading={isBusy} onClick={() => void unlink(id)}>
                  Unlink
                </Button>
              }
            />
          )),
          ...others.map(({ id, name }) => (
            <Row
              key={id}
              name={name}
              actions={
                <Button variant="default" loading={isBusy} onClick={() => void link(id)}>
                  Link {name}
                </Button>
              }
            />
          )),
        ]}
      </Rows>
      {dialog}
    </Section>
  )
}

import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../api/client.ts'
import { signInWaysQuery } from '../api/people-queries.ts'
import { identitiesQuery } from '../api/provider-queries.ts'
import { LoadError } from '../components/load-error.tsx'
import { RelativeTime } from '../components/relative-time.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { useSignInAgain } from '../session/sign-in-again.tsx'
import styles from './settings.module.css'

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
    <section className={styles.section}>
      <h2>Identity providers</h2>
      {query.isPending && <Skeleton height={48} />}
      {query.isError && <LoadError what="your identity providers" query={query} />}
      <ul className={styles.rows} aria-label="Identity providers">
        {linked.map(({ id, providerName, lastUsedAt }) => (
          <li key={id} className={styles.item}>
            <div className={styles.main}>
              <strong>{providerName ?? 'A provider that was removed'}</strong>
              <div className="quiet small">
                last used <RelativeTime dateTime={lastUsedAt} />
              </div>
            </div>
            <Button variant="default" loading={isBusy} onClick={() => void unlink(id)}>
              Unlink
            </Button>
          </li>
        ))}
        {others.map(({ id, name }) => (
          <li key={id} className={styles.item}>
            <div className={styles.main}>{name}</div>
            <Button variant="default" loading={isBusy} onClick={() => void link(id)}>
              Link {name}
            </Button>
          </li>
        ))}
      </ul>
      {dialog}
    </section>
  )
}

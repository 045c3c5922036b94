import { Modal, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type IdentityProvider, identityProviderTestQuery } from '../api/provider-queries.ts'
import { LoadError } from '../components/load-error.tsx'
import styles from './settings.module.css'

const STEPS = { discovery: 'Configuration', keys: 'Keys', redirect: 'Redirect URL' }

interface ProviderTestProps {
  provider: IdentityProvider
  onClose(): void
}

/** Tests a provider each time that it is opened. */
export function ProviderTest({ provider: { id, name }, onClose }: ProviderTestProps) {
  const query = useQuery(identityProviderTestQuery(id))
  const test = query.data
  return (
    <Modal opened onClose={onClose} title={`Test of “${name}”`}>
      {query.isPending && <Skeleton height={160} role="status" aria-label="Testing" />}
      {query.isError && <LoadError what="the result" query={query} />}
      {test && (
        <div className="stack">
          <ol className={styles.rows} aria-label="Steps">
            {test.steps.map(({ step, isOk, message }) => (
              <li key={step} className={styles.item}>
                <div className={styles.main}>
                  <strong>
                    {STEPS[step]}: {isOk ? 'OK' : 'failed'}
                  </strong>
                  <div className="quiet small breakable">{message}</div>
                </div>
              </li>
            ))}
          </ol>
          <p className="quiet small" style={{ margin: 0 }}>
            {test.isOk
              ? 'Register the redirect URL with the provider. Then sign in once in another browser, which checks the client ID and the secret.'
              : 'Correct what failed, and test again.'}
          </p>
        </div>
      )}
    </Modal>
  )
}

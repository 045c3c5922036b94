import { Modal } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type IdentityProvider, identityProviderTestQuery } from '../api/provider-queries.ts'
import { isolate } from '../lib/isolate.ts'
import { Row, Rows } from './rows.tsx'

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
    <Modal opened onClose={onClose} title={`Test of “${isolate(name)}”`}>
      <div className="stack">
        <Rows label="steps" query={query} queryKey={identityProviderTestQuery(id).queryKey} isOrdered>
          {(test?.steps ?? []).map(({ step, isOk, message }) => (
            <Row key={step} name={`${STEPS[step]}: ${isOk ? 'OK' : 'failed'}`} details={message} />
          ))}
        </Rows>
        {test && (
          <p className="quiet small">
            {test.isOk
              ? 'Register the redirect URL with the provider. Then sign in once in another browser, which checks the client ID and the secret.'
              : 'Correct what failed, and test again.'}
          </p>
        )}
      </div>
    </Modal>
  )
}

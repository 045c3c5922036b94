import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { DEFAULT_WAYS, signInWaysQuery } from '../api/people-queries.ts'
import { useNavigation } from '../navigation/location-provider.tsx'
import { parseSearch } from '../navigation/search-params.ts'
import { canPeopleSignIn, KeyForm, PersonForms } from './sign-in-form.tsx'
import styles from './signed-out.module.css'
import { SignedOutPage } from './signed-out-page.tsx'

export default function SignInPage() {
  const { search, hash } = useNavigation().url
  const { next } = parseSearch(search)
  const { data: ways = DEFAULT_WAYS, isPending } = useQuery(signInWaysQuery)
  const onSignedIn = () => location.replace(ownAddress(next))
  const isAdminOnly = ways.keys === 'admin'
  return (
    <SignedOutPage title="Sign in to Inlet">
      {isPending && <Skeleton height={180} />}
      {!isPending && !canPeopleSignIn(ways) && <KeyForm onSignedIn={onSignedIn} isAdminOnly={isAdminOnly} />}
      {!isPending && canPeopleSignIn(ways) && (
        <>
          <PersonForms ways={ways} onSignedIn={onSignedIn} />
          <details className={styles.other} open={hash === '#key' || undefined}>
            <summary>Other ways to sign in</summary>
            <KeyForm onSignedIn={onSignedIn} isAdminOnly={isAdminOnly} isSecondary />
          </details>
        </>
      )}
      <p className="quiet small">
        The first key was printed when Inlet first started. If you lost it, set <code>BOOTSTRAP_API_KEY</code>{' '}
        and restart.
      </p>
    </SignedOutPage>
  )
}

/**
 * Where to go, on this service only. It is loaded as a new document: this one keeps what was preloaded before the sign-in,
 * which says that there is no session.
 */
function ownAddress(next: unknown): string {
  const path = typeof next === 'string' && URL.canParse(next, location.origin) ? next : '/tasks'
  const url = new URL(path, location.origin)
  return url.origin === location.origin ? url.href : '/tasks'
}

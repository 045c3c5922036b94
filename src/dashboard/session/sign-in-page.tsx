import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { DEFAULT_WAYS, signInWaysQuery } from '../api/people-queries.ts'
import { ErrorText } from '../components/error-text.tsx'
import { useNavigation } from '../navigation/location-provider.tsx'
import { parseSearch } from '../navigation/search-params.ts'
import { ownAddress, pathOf } from './own-address.ts'
import { signInErrorText } from './sign-in-error.ts'
import { canPeopleSignIn, KeyForm, PersonForms } from './sign-in-form.tsx'
import styles from './signed-out.module.css'
import { SignedOutPage } from './signed-out-page.tsx'

export default function SignInPage() {
  const { search, hash } = useNavigation().url
  const { next, error } = parseSearch(search)
  const { data: ways = DEFAULT_WAYS, isPending } = useQuery(signInWaysQuery)
  const to = ownAddress(next, location.origin)
  // As a new document: this one keeps what was preloaded before the sign-in, which says that there is no session.
  const onSignedIn = () => location.replace(to.href)
  const isAdminOnly = ways.keys === 'admin'
  const failure = signInErrorText(error)
  return (
    <SignedOutPage title="Sign in to Inlet">
      {failure && <ErrorText>{failure}</ErrorText>}
      {isPending && <Skeleton height={180} />}
      {!isPending && !canPeopleSignIn(ways) && (
        <>
          <KeyForm onSignedIn={onSignedIn} isAdminOnly={isAdminOnly} />
          <FirstKey />
        </>
      )}
      {!isPending && canPeopleSignIn(ways) && (
        <>
          <PersonForms ways={ways} returnTo={pathOf(to)} onSignedIn={onSignedIn} />
          <details className={styles.other} open={hash === '#key' || !ways.hasPeople || undefined}>
            <summary>Other ways to sign in</summary>
            <KeyForm onSignedIn={onSignedIn} isAdminOnly={isAdminOnly} isSecondary />
            <FirstKey />
          </details>
        </>
      )}
    </SignedOutPage>
  )
}

const FirstKey = () => (
  <p className="quiet small">
    The first key was printed when Inlet first started. If you lost it, set <code>BOOTSTRAP_API_KEY</code> and
    restart.
  </p>
)

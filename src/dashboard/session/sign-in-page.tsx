import { Logo } from '../components/logo.tsx'
import { usePageTitle } from '../components/use-page-title.ts'
import { useSearchString } from '../navigation/location-provider.tsx'
import { parseSearch } from '../navigation/search-params.ts'
import styles from './sign-in.module.css'
import { SignInForm } from './sign-in-form.tsx'

export default function SignInPage() {
  const { next } = parseSearch(useSearchString())
  usePageTitle('Sign in')
  return (
    <main className={styles.page}>
      <div className={styles.box}>
        <Logo size={36} />
        <h1>Sign in to Inlet</h1>
        <SignInForm onSignedIn={() => location.replace(ownAddress(next))} />
        <p className="quiet small">
          The first key was printed when Inlet first started. If you lost it, set{' '}
          <code>BOOTSTRAP_API_KEY</code> and restart.
        </p>
      </div>
    </main>
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

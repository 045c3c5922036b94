import { useLocation } from 'wouter'
import { Logo } from '../components/logo.tsx'
import { usePageTitle } from '../components/use-page-title.ts'
import { useSearchString } from '../navigation/location-provider.tsx'
import { parseSearch } from '../navigation/search-params.ts'
import styles from './sign-in.module.css'
import { SignInForm } from './sign-in-form.tsx'

export default function SignInPage() {
  const [, navigate] = useLocation()
  const { next } = parseSearch(useSearchString())
  usePageTitle('Sign in')
  return (
    <main className={styles.page}>
      <div className={styles.box}>
        <Logo size={36} />
        <h1>Sign in to Inlet</h1>
        <SignInForm onSignedIn={() => navigate(isOwnPath(next) ? next : '/tasks')} />
        <p className="quiet small">
          The first key was printed when Inlet first started. If you lost it, set{' '}
          <code>BOOTSTRAP_API_KEY</code> and restart.
        </p>
      </div>
    </main>
  )
}

/** Prevents open redirects. */
const isOwnPath = (next: unknown): next is string => typeof next === 'string' && /^\/(?![/\\])/.test(next)

import { Logo } from '../components/logo.tsx'
import { usePageTitle } from '../components/use-page-title.ts'
import { useRouter, useSearch } from '../navigation/router.tsx'
import styles from './sign-in.module.css'
import { SignInForm } from './sign-in-form.tsx'

export function SignInPage() {
  const { open } = useRouter()
  const { next } = useSearch()
  usePageTitle('Sign in')
  return (
    <main className={styles.page}>
      <div className={styles.box}>
        <Logo size={36} />
        <h1>Sign in to Inlet</h1>
        <SignInForm onSignedIn={() => open(next ?? '/tasks')} />
        <p className="quiet small">
          The first key was printed when Inlet first started. If you lost it, set{' '}
          <code>BOOTSTRAP_API_KEY</code> and restart.
        </p>
      </div>
    </main>
  )
}

import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { api, dataOf, responseOf, type Schema } from '../api/client.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import { ErrorText } from '../components/error-text.tsx'
import { askForPasskey, hasPasskeys } from './passkey.ts'
import { ProviderButtons } from './provider-buttons.tsx'
import { meQuery } from './session.ts'

interface PasswordFormProps {
  onSignedIn(): void
  /** Whose session ended. */
  username?: string
  /** Below the identity providers, whose buttons are the main ones. */
  isSecondary?: boolean
}

/** Signs in with a username and password. */
function PasswordForm({ onSignedIn, username: given, isSecondary = false }: PasswordFormProps) {
  const [username, setUsername] = useState(given ?? '')
  const [password, setPassword] = useState('')
  const { signIn, problem, setMissing, missing, isBusy } = useSignIn(onSignedIn)

  function submit(event: FormEvent) {
    event.preventDefault()
    if (username.trim() === '') return setMissing('username')
    if (password === '') return setMissing('password')
    void signIn(async () => ({ username: username.trim(), password }))
  }

  return (
    <SignInFields
      onSubmit={submit}
      isBusy={isBusy}
      secondaryVerb={isSecondary && 'Sign in'}
      error={problem?.status === 401 ? 'The username or the password is wrong.' : problem?.message}
    >
      <TextInput
        label="Username"
        value={username}
        onChange={(event) => setUsername(event.currentTarget.value)}
        error={missing === 'username' && 'Enter your username.'}
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={100}
        size="md"
      />
      <PasswordInput
        label="Password"
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        error={missing === 'password' && 'Enter your password.'}
        autoComplete="current-password"
        maxLength={128}
        data-autofocus={given !== undefined || undefined}
        size="md"
      />
    </SignInFields>
  )
}

interface PersonFormsProps extends Omit<PasswordFormProps, 'isSecondary'> {
  ways: Pick<Schema<'SignInWays'>, 'password' | 'passkeys' | 'providers'>
  /** The path that identity providers lead to. */
  returnTo: string
}

/** Whether a person can sign in here, with this browser. */
export const canPeopleSignIn = ({ password, passkeys, providers }: PersonFormsProps['ways']) =>
  providers.length > 0 || password || (passkeys && hasPasskeys())

/** Signs a person in, in the ways that are on. */
export function PersonForms({ ways, returnTo, ...props }: PersonFormsProps) {
  const hasProviders = ways.providers.length > 0
  return (
    <>
      {hasProviders && <ProviderButtons providers={ways.providers} returnTo={returnTo} />}
      {ways.password && <PasswordForm {...props} isSecondary={hasProviders} />}
      {ways.passkeys && hasPasskeys() && (
        <PasskeyButton onSignedIn={props.onSignedIn} isSecondary={ways.password || hasProviders} />
      )}
    </>
  )
}

interface PasskeyButtonProps {
  onSignedIn(): void
  /** Below a form, whose button is the main one. */
  isSecondary: boolean
}

/** Signs in with a passkey, which knows whose it is. */
function PasskeyButton({ onSignedIn, isSecondary }: PasskeyButtonProps) {
  const { signIn, problem, isBusy } = useSignIn(onSignedIn)

  async function ask() {
    const passkey = await askForPasskey(await dataOf(api.POST('/api/sessions/passkey-challenge')))
    return passkey && { passkey }
  }

  return (
    <div className="stack">
      <Button
        variant={isSecondary ? 'default' : 'filled'}
        size="md"
        fullWidth
        loading={isBusy}
        onClick={() => void signIn(ask)}
      >
        Sign in with a passkey
      </Button>
      {problem && (
        <ErrorText>
          {problem.status === 401 ? "Couldn't sign in with this passkey." : problem.message}
        </ErrorText>
      )}
    </div>
  )
}

interface KeyFormProps {
  onSignedIn(): void
  isAdminOnly?: boolean
  /** Below the other form, whose button is the main one. */
  isSecondary?: boolean
}

/** Signs in with an API key. */
export function KeyForm({ onSignedIn, isAdminOnly = false, isSecondary = false }: KeyFormProps) {
  const [key, setKey] = useState('')
  const { signIn, problem, setMissing, missing, isBusy } = useSignIn(onSignedIn)
  const errorOf = ({ status, message }: Problem) =>
    status === 401 ? 'Invalid API key. It may have expired or been revoked.' : message

  function submit(event: FormEvent) {
    event.preventDefault()
    if (key.trim() === '') return setMissing('key')
    void signIn(async () => ({ key: key.trim() }))
  }

  return (
    <SignInFields onSubmit={submit} isBusy={isBusy} secondaryVerb={isSecondary && 'Sign in with an API key'}>
      <PasswordInput
        label="API key"
        description={
          isAdminOnly
            ? 'Only keys with the scope admin can sign in.'
            : 'Your access depends on the scopes of the key.'
        }
        placeholder="inl_…"
        value={key}
        onChange={(event) => setKey(event.currentTarget.value)}
        error={missing ? 'Enter an API key.' : problem && errorOf(problem)}
        autoComplete="current-password"
        data-autofocus
        size="md"
      />
    </SignInFields>
  )
}

interface SignInFieldsProps {
  /** Of a form that is below the main one. */
  secondaryVerb?: string | false
  isBusy: boolean
  error?: string | undefined
  children: ReactNode
  onSubmit(event: FormEvent): void
}

const SignInFields = ({ secondaryVerb, isBusy, error, children, onSubmit }: SignInFieldsProps) => (
  <form onSubmit={onSubmit} className="stack" noValidate>
    {children}
    {error && <ErrorText>{error}</ErrorText>}
    <Button type="submit" loading={isBusy} size="md" fullWidth variant={secondaryVerb ? 'default' : 'filled'}>
      {secondaryVerb || 'Sign in'}
    </Button>
  </form>
)

function useSignIn(onSignedIn: () => void) {
  const queryClient = useQueryClient()
  const [problem, setProblem] = useState<Problem>()
  const [missing, setMissing] = useState<string>()
  const [isBusy, setBusy] = useState(false)

  /** Does nothing if there are no credentials: the user has cancelled. */
  async function signIn(credentialsOf: () => Promise<Schema<'NewSession'> | undefined>) {
    setBusy(true)
    setProblem(undefined)
    setMissing(undefined)
    try {
      const body = await credentialsOf()
      if (!body) return
      await responseOf(api.POST('/api/sessions', { body }), { isSignIn: true })
      await queryClient.fetchQuery({ ...meQuery, staleTime: 0 })
      onSignedIn()
    } catch (error) {
      setProblem(problemOf(error))
    } finally {
      setBusy(false)
    }
  }

  return { signIn, problem, missing, setMissing, isBusy }
}

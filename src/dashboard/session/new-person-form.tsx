import { Button, PasswordInput, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useState } from 'react'
import { type Problem, problemOf } from '../api/problem.ts'
import { ErrorText } from '../components/error-text.tsx'
import { useFormDraft } from '../components/use-form-draft.ts'

const MIN_PASSWORD = 12
const TOO_SHORT = `Use at least ${MIN_PASSWORD} characters.`

interface Names {
  username: string
  name?: string
}

export interface NewPerson extends Names {
  password: string
}

interface NewPersonFormProps {
  verb: string
  /** What the draft of the username and the name is kept as; the password is in none. */
  draftName: string
  /** The name of the invite is used unless another one is given. */
  isNameOptional?: boolean
  /** Whether people can sign in with a password. */
  hasPassword?: boolean
  onSubmit(person: NewPerson): Promise<void>
  /** Other ways to accept, for the username that is chosen. */
  others?(username: string): ReactNode
  /** Of a dialog. */
  onCancel?(): void
  /** Where a passkey is possible instead. Resolves to true when the person is created, who may cancel. */
  onPasskey?: ((names: Names) => Promise<boolean | undefined>) | undefined
}

const NOTHING = { username: '', name: '' }

/** What somebody new chooses: username, name and password. */
export function NewPersonForm({ verb, draftName, isNameOptional = false, ...props }: NewPersonFormProps) {
  const { hasPassword = true, others, onSubmit, onCancel, onPasskey } = props
  const draft = useFormDraft(draftName, NOTHING)
  const { username, name } = draft.values
  const [password, setPassword] = useState('')
  const names = { username, ...(name.trim() && { name: name.trim() }) }
  const { submit, run, problem, isTooShort, isBusy } = usePasswordSubmit(password, async () => {
    await onSubmit({ ...names, password })
    draft.discard()
  })
  const submitPasskey = async (send: NonNullable<typeof onPasskey>) => {
    if (await send(names)) draft.discard()
  }
  const errors = problem?.byField ?? {}
  const usernameError = problem?.code === 'username_taken' ? problem.message : errors['/username']
  const isShown = usernameError ?? errors['/name'] ?? errors['/password']
  return (
    <form onSubmit={submit} className="stack">
      <TextInput
        label="Username"
        description="2 to 39 characters: a-z, 0-9 and hyphen. You sign in with it; it can't be changed later."
        value={username}
        onChange={(event) => draft.change({ username: event.currentTarget.value.trim().toLowerCase() })}
        error={usernameError}
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        required
        maxLength={39}
        data-autofocus
        size="md"
      />
      {others?.(username)}
      <TextInput
        label="Name"
        description="Others see it."
        placeholder={isNameOptional ? 'As in the invite' : ''}
        value={name}
        onChange={(event) => draft.change({ name: event.currentTarget.value })}
        error={errors['/name']}
        autoComplete="name"
        required={!isNameOptional}
        maxLength={100}
        size="md"
      />
      {hasPassword && (
        <NewPasswordInput
          label="Password"
          value={password}
          onChange={setPassword}
          error={isTooShort ? TOO_SHORT : errors['/password']}
        />
      )}
      {problem && !isShown && <ErrorText>{problem.message}</ErrorText>}
      {hasPassword && (
        <Button type="submit" loading={isBusy} size="md" fullWidth>
          {verb}
        </Button>
      )}
      {onPasskey && (
        <Button
          variant={hasPassword ? 'default' : 'filled'}
          loading={isBusy}
          size="md"
          fullWidth
          onClick={() => void run(() => submitPasskey(onPasskey))}
        >
          {verb} with a passkey
        </Button>
      )}
      {onCancel && (
        <Button
          variant="default"
          size="md"
          fullWidth
          onClick={() => {
            draft.discard()
            onCancel()
          }}
        >
          {draft.isDraft ? 'Discard' : 'Cancel'}
        </Button>
      )}
    </form>
  )
}

interface NewPasswordFormProps {
  verb: string
  /** For password managers: whose password it is. */
  username?: string
  size?: 'sm' | 'md'
  onSubmit(password: string): Promise<void>
}

export function NewPasswordForm({ verb, username, size = 'md', onSubmit }: NewPasswordFormProps) {
  const [password, setPassword] = useState('')
  const { submit, problem, isTooShort, isBusy } = usePasswordSubmit(password, async () => {
    await onSubmit(password)
    setPassword('')
  })
  const error = isTooShort ? TOO_SHORT : problem?.byField['/password']
  return (
    <form onSubmit={submit} className="stack">
      {username && <input hidden autoComplete="username" value={username} readOnly />}
      <NewPasswordInput
        label="New password"
        size={size}
        value={password}
        onChange={setPassword}
        error={error}
      />
      {problem && !error && <ErrorText>{problem.message}</ErrorText>}
      <div>
        <Button type="submit" loading={isBusy} size={size} fullWidth={size === 'md'}>
          {verb}
        </Button>
      </div>
    </form>
  )
}

interface NewPasswordInputProps {
  label: string
  size?: 'sm' | 'md'
  value: string
  onChange(value: string): void
  error: string | undefined
}

const NewPasswordInput = ({ label, size = 'md', value, onChange, error }: NewPasswordInputProps) => (
  <PasswordInput
    label={label}
    description="12 to 128 characters."
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
    error={error}
    autoComplete="new-password"
    required
    maxLength={128}
    size={size}
  />
)

function usePasswordSubmit(password: string, send: () => Promise<void>) {
  const [problem, setProblem] = useState<Problem>()
  const [isTooShort, setTooShort] = useState(false)
  const [isBusy, setBusy] = useState(false)

  async function submit(event: FormEvent) {
    event.preventDefault()
    setProblem(undefined)
    setTooShort(password.length < MIN_PASSWORD)
    if (password.length >= MIN_PASSWORD) await run(send)
  }

  async function run(send: () => Promise<void>) {
    setProblem(undefined)
    setBusy(true)
    try {
      await send()
    } catch (error) {
      setProblem(problemOf(error))
    } finally {
      setBusy(false)
    }
  }

  return { submit: (event: FormEvent) => void submit(event), run, problem, isTooShort, isBusy }
}

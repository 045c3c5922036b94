import { Button, PasswordInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { problemOf } from '../api/problem.ts'
import { meQuery } from './session.ts'

export function SignInForm({ onSignedIn }: { onSignedIn(): void }) {
  const queryClient = useQueryClient()
  const [key, setKey] = useState('')
  const [errorMessage, setErrorMessage] = useState<string>()
  const [isBusy, setBusy] = useState(false)

  async function signIn(event: FormEvent) {
    event.preventDefault()
    if (key.trim() === '') return setErrorMessage('Enter an API key.')
    setBusy(true)
    setErrorMessage(undefined)
    try {
      await dataOf(api.POST('/api/sessions', { body: { key: key.trim() } }))
      await queryClient.fetchQuery({ ...meQuery, staleTime: 0 })
      onSignedIn()
    } catch (error) {
      const problem = problemOf(error)
      setErrorMessage(
        problem.status === 401 ? 'Invalid API key. It may have expired or been revoked.' : problem.message,
      )
    } finally {
      setBusy(false)
    }
  }

  return (
    <form onSubmit={signIn} className="stack">
      <PasswordInput
        label="API key"
        description="Your access depends on the scopes of the key."
        placeholder="inl_…"
        value={key}
        onChange={(event) => setKey(event.currentTarget.value)}
        error={errorMessage}
        autoComplete="current-password"
        data-autofocus
        size="md"
      />
      <Button type="submit" loading={isBusy} size="md" fullWidth>
        Sign in
      </Button>
    </form>
  )
}

import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { api, dataOf, type Schema } from '../api/client.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import { ErrorText } from '../components/error-text.tsx'

interface AcceptAtProviderProps {
  secret: string
  providers: Schema<'SignInWays'>['providers']
  /** For somebody who has an account here already. */
  isForPerson?: boolean
  /** Where it is asked for elsewhere. */
  username?: string
}

/** Accepts an invite without a password, where there are identity providers. */
export function AcceptAtProvider({
  secret,
  providers,
  isForPerson = false,
  ...given
}: AcceptAtProviderProps) {
  const [typed, setUsername] = useState('')
  const { username = typed } = given
  const [problem, setProblem] = useState<Problem>()
  const [isBusy, setBusy] = useState(false)
  if (providers.length === 0) return null

  async function begin(providerId: string) {
    setBusy(true)
    setProblem(undefined)
    try {
      const body = { secret, providerId, ...(!isForPerson && { username }) }
      const { url } = await dataOf(api.POST('/api/invites/accept-at-provider', { body }))
      location.assign(url)
    } catch (error) {
      setProblem(problemOf(error))
      setBusy(false)
    }
  }

  return (
    <section className="stack" aria-label="Without a password">
      {!isForPerson && given.username === undefined && (
        <TextInput
          label="Your username"
          description="2 to 39 characters: a-z, 0-9 and hyphen. It can't be changed later."
          value={typed}
          onChange={(event) => setUsername(event.currentTarget.value.trim().toLowerCase())}
          autoCapitalize="none"
          spellCheck={false}
          maxLength={39}
          size="md"
        />
      )}
      {problem && <ErrorText>{problem.message}</ErrorText>}
      {providers.map(({ id, name }) => (
        <Button
          key={id}
          size="md"
          fullWidth
          loading={isBusy}
          disabled={!isForPerson && username.length < 2}
          onClick={() => void begin(id)}
        >
          Continue with {name}
        </Button>
      ))}
    </section>
  )
}

import { TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, dataOf, responseOf } from '../api/client.ts'
import { DEFAULT_WAYS, signInWaysQuery } from '../api/people-queries.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import { FormEnd } from '../components/form-end.tsx'
import { toast } from '../components/toast.ts'
import { useFormDraft } from '../components/use-form-draft.ts'
import { useMutation } from '../components/use-mutation.ts'
import { NewPasswordForm } from '../session/new-person-form.tsx'
import { useMe } from '../session/session.ts'
import { useSignInAgain } from '../session/sign-in-again.tsx'
import { IdentitiesSection } from './identities-section.tsx'
import { PageHeader } from './page-header.tsx'
import { PasskeySection } from './passkey-section.tsx'
import { ROLES, type User } from './people-text.ts'
import { PersonalKeys } from './personal-keys.tsx'
import { Section } from './section.tsx'
import { SessionList, SignOutEverywhere } from './session-list.tsx'
import styles from './settings.module.css'

export default function AccountPage() {
  const { me } = useMe()
  const { data: ways = DEFAULT_WAYS } = useQuery(signInWaysQuery)
  if (!me?.user) return null
  const { user } = me
  return (
    <>
      <PageHeader title="Account">
        You sign in as <code>{user.username}</code>. Your role is {ROLES[user.role].label.toLowerCase()}.
      </PageHeader>
      <Profile key={user.id} user={user} />
      {ways.password && (
        <Section title="Password" description="A new password signs you out in all other browsers.">
          <div className={styles.form}>
            <ChangePassword username={user.username} />
          </div>
        </Section>
      )}
      <PasskeySection />
      <IdentitiesSection />
      <PersonalKeys />
      <Section title="Your sessions" action={<SignOutEverywhere />}>
        <SessionList userId={user.id} />
      </Section>
    </>
  )
}

function Profile({ user }: { user: User }) {
  const { mutate, isBusy } = useMutation('me', 'users')
  const draft = useFormDraft(`account:${user.id}`, valuesOf(user))
  const { name, email } = draft.values
  const [problem, setProblem] = useState<Problem>()
  const change = { name: name.trim(), email: email.trim() || null }

  async function save(event: FormEvent) {
    event.preventDefault()
    setProblem(undefined)
    const sent = draft.values
    const saved = await mutate('', async () => {
      try {
        return await dataOf(api.PATCH('/api/me', { body: draft.onlyChanged(change) }))
      } catch (error) {
        setProblem(problemOf(error))
      }
    })
    if (!saved) return
    draft.complete(sent, valuesOf(saved))
    toast.info('Saved')
  }

  return (
    <form onSubmit={(event) => void save(event)} className={`stack ${styles.form}`}>
      <TextInput
        label="Name"
        description="Others see it."
        required
        maxLength={100}
        autoComplete="name"
        value={name}
        error={problem?.byField['/name']}
        onChange={(event) => draft.change({ name: event.currentTarget.value })}
      />
      <TextInput
        label="Email"
        description="Optional. You don't sign in with it."
        type="email"
        maxLength={254}
        autoComplete="email"
        value={email}
        error={problem?.byField['/email']}
        onChange={(event) => draft.change({ email: event.currentTarget.value })}
      />
      <FormEnd
        draft={draft}
        verb="Save"
        error={problem?.message}
        isBusy={isBusy}
        isDisabled={change.name === '' || !draft.isDraft}
      />
    </form>
  )
}

const valuesOf = ({ name, email }: User) => ({ name, email: email ?? '' })

function ChangePassword({ username }: { username: string }) {
  const { refresh } = useMutation('sessions')
  const { recently, dialog } = useSignInAgain(
    'You signed in more than ten minutes ago. Sign in to change your password.',
  )

  async function change(password: string) {
    await recently(() => responseOf(api.PUT('/api/me/password', { body: { password } })))
    await refresh()
    toast.info('Your password is changed.')
  }

  return (
    <>
      <NewPasswordForm verb="Change password" size="sm" username={username} onSubmit={change} />
      {dialog}
    </>
  )
}

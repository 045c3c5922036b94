import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, dataOf, responseOf } from '../api/client.ts'
import { personalKeysQuery } from '../api/people-queries.ts'
import { projectsQuery } from '../api/queries.ts'
import { useOpened } from '../navigation/use-opened.ts'
import { useMe } from '../session/session.ts'
import { useSignInAgain } from '../session/sign-in-again.tsx'
import { KeyList } from './key-list.tsx'
import { ALL_SCOPES, type NewKey } from './new-key-dialog.tsx'
import { Section } from './section.tsx'

/** The personal keys of who is signed in. */
export function PersonalKeys() {
  const query = useQuery(personalKeysQuery)
  const { data: projects = [] } = useQuery(projectsQuery)
  const { can } = useMe()
  const { recently, dialog } = useSignInAgain(
    'You signed in more than ten minutes ago. Sign in to change your personal keys.',
  )
  const { opened, open, close } = useOpened('key')
  const creating = {
    title: 'Create personal key',
    description: 'For you to recognize it. What is done with it has your own name.',
    scopes: ALL_SCOPES.filter(can),
    hasProjects: projects.length > 1,
    create: (body: NewKey) => recently(() => dataOf(api.POST('/api/me/keys', { body }))),
  }
  const rotate = (id: string) =>
    recently(() => dataOf(api.POST('/api/me/keys/{id}/rotate', { params: { path: { id } }, body: {} })))
  const revoke = (id: string) =>
    recently(() => responseOf(api.DELETE('/api/me/keys/{id}', { params: { path: { id } } })))
  return (
    <Section
      title="Personal keys"
      action={
        <Button variant="default" onClick={() => open('new')}>
          Create personal key
        </Button>
      }
      description="For your AI assistants and scripts. They act as you, and never do more than you may do."
    >
      <KeyList
        label="Personal keys"
        isOwn
        query={query}
        queryKey={personalKeysQuery.queryKey}
        creating={opened === 'new' ? creating : undefined}
        onCreated={close}
        rotate={rotate}
        revoke={revoke}
      />
      {dialog}
    </Section>
  )
}

import { Modal, PasswordInput, Switch, TagsInput, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import type { IdentityProvider } from '../api/provider-queries.ts'
import { FormEnd } from '../components/form-end.tsx'
import { useFormDraft } from '../components/use-form-draft.ts'
import { useMutation } from '../components/use-mutation.ts'
import { isolate } from '../lib/isolate.ts'
import { type Access, AccessFields, isComplete } from './access-fields.tsx'
import { ROLES, type Role } from './people-text.ts'

interface ProviderDialogProps {
  /** The provider to edit; a new one if undefined. */
  provider: IdentityProvider | undefined
  onClose(): void
}

const NEW_ROLES: Role[] = ['member', 'viewer']
const GROUP_ROLES: Role[] = ['owner', 'member', 'viewer']

interface Fields {
  name: string
  issuer: string
  clientId: string
  scopes: string[]
  groupsClaim: string
  requiredGroup: string
  createUsers: IdentityProvider['createUsers']
  allowedDomains: string[]
  roleByGroup: Record<string, Role>
  newUsers: Access
}

const savedFields = (provider: IdentityProvider | undefined): Fields => ({
  name: provider?.name ?? '',
  issuer: provider?.issuer ?? '',
  clientId: provider?.clientId ?? '',
  scopes: provider?.scopes ?? ['openid', 'profile', 'email'],
  groupsClaim: provider?.groupsClaim ?? 'groups',
  requiredGroup: provider?.requiredGroup ?? '',
  createUsers: provider?.createUsers ?? 'invited',
  allowedDomains: provider?.allowedDomains ?? [],
  roleByGroup: provider?.roleByGroup ?? {},
  newUsers: provider?.newUsers ?? { role: 'member', projectIds: null },
})

/** Adds or edits an identity provider. */
export function ProviderDialog({ provider, onClose }: ProviderDialogProps) {
  const { mutate, isBusy } = useMutation('identity-providers', 'sign-in')
  const draft = useFormDraft<Fields>(`provider:${provider?.id ?? 'new'}`, savedFields(provider))
  const { name, issuer, clientId, scopes, groupsClaim, requiredGroup, createUsers, allowedDomains } =
    draft.values
  const { roleByGroup, newUsers } = draft.values
  // Not part of the draft, which is stored.
  const [clientSecret, setClientSecret] = useState('')
  const [problem, setProblem] = useState<Problem>()
  const errors = problem?.byField ?? {}
  const hasNewUsers = createUsers === 'allowed' || Object.keys(roleByGroup).length > 0
  const isReady = [name, issuer, clientId].every((text) => text.trim() !== '')

  async function save(event: FormEvent) {
    event.preventDefault()
    setProblem(undefined)
    if (provider && !draft.isDraft && clientSecret === '') return onClose()
    // Cast: the field offers no other roles.
    const body = {
      name: name.trim(),
      clientId: clientId.trim(),
      scopes,
      groupsClaim: groupsClaim.trim() || 'groups',
      requiredGroup: requiredGroup.trim() || null,
      createUsers,
      allowedDomains,
      roleByGroup,
      newUsers: hasNewUsers ? (newUsers as Access & { role: 'member' | 'viewer' }) : null,
    }
    const secret = clientSecret.trim()
    await mutate('', async () => {
      try {
        if (provider) {
          const params = { path: { id: provider.id } }
          // Who is new depends on the other fields.
          const changed = { ...draft.onlyChanged(body), newUsers: body.newUsers }
          const changes = { ...changed, ...(secret && { clientSecret: secret }) }
          await dataOf(api.PATCH('/api/identity-providers/{id}', { params, body: changes }))
        } else {
          const created = { ...body, issuer: issuer.trim(), clientSecret: secret }
          await dataOf(api.POST('/api/identity-providers', { body: created }))
        }
        draft.discard()
        onClose()
      } catch (error) {
        setProblem(problemOf(error))
      }
    })
  }

  const groupsOf = (role: Role) => Object.keys(roleByGroup).filter((group) => roleByGroup[group] === role)
  const setGroupsOf = (role: Role, groups: string[]) => {
    const others = Object.entries(roleByGroup).filter(([, other]) => other !== role)
    const chosen = groups.map((group) => [group, role])
    draft.change({ roleByGroup: Object.fromEntries([...others, ...chosen]) })
  }

  return (
    <Modal opened onClose={onClose} title={provider ? `Edit “${isolate(provider.name)}”` : 'Add a provider'}>
      <form onSubmit={(event) => void save(event)} className="stack">
        <TextInput
          label="Name"
          description="On the button of the sign-in page."
          placeholder="Keycloak"
          data-autofocus
          required
          maxLength={100}
          value={name}
          error={errors['/name']}
          onChange={(event) => draft.change({ name: event.currentTarget.value })}
        />
        <TextInput
          label="Issuer"
          description="Exactly as the provider shows it. It can't be changed later."
          placeholder="https://login.example.com/realms/acme"
          required
          disabled={provider !== undefined}
          maxLength={255}
          value={issuer}
          error={errors['/issuer']}
          onChange={(event) => draft.change({ issuer: event.currentTarget.value })}
        />
        <TextInput
          label="Client ID"
          required
          maxLength={255}
          value={clientId}
          error={errors['/clientId']}
          onChange={(event) => draft.change({ clientId: event.currentTarget.value })}
        />
        <PasswordInput
          label="Client secret"
          description={provider && 'Leave it empty to keep the present one.'}
          required={!provider}
          autoComplete="off"
          maxLength={1_000}
          value={clientSecret}
          error={errors['/clientSecret']}
          onChange={(event) => setClientSecret(event.currentTarget.value)}
        />
        <TagsInput
          label="Scopes"
          maxTags={20}
          value={scopes}
          onChange={(scopes) => draft.change({ scopes })}
        />
        <TextInput
          label="Required group"
          description="Optional. Only its members can sign in."
          maxLength={255}
          value={requiredGroup}
          onChange={(event) => draft.change({ requiredGroup: event.currentTarget.value })}
        />
        <Switch
          label="Create people at their first sign-in"
          description="Otherwise they are invited, or link the provider to their account."
          checked={createUsers === 'allowed'}
          onChange={({ currentTarget }) =>
            draft.change({ createUsers: currentTarget.checked ? 'allowed' : 'invited' })
          }
        />
        {createUsers === 'allowed' && (
          <TagsInput
            label="Email domains"
            description="Only people with a verified address in one of these are created. Optional with a required group."
            placeholder={allowedDomains.length === 0 ? 'example.com' : ''}
            maxTags={20}
            value={allowedDomains}
            error={errors['/allowedDomains'] ?? errors['/allowedDomains/0']}
            onChange={(allowedDomains) => draft.change({ allowedDomains })}
          />
        )}
        <details>
          <summary>Roles by group</summary>
          <div className="stack">
            <p className="quiet small" style={{ margin: 0 }}>
              If a group is listed, each sign-in sets the role: the strongest of the person's groups.
            </p>
            {GROUP_ROLES.map((role) => (
              <TagsInput
                key={role}
                label={`Groups of ${ROLES[role].label.toLowerCase()}s`}
                value={groupsOf(role)}
                onChange={(groups) => setGroupsOf(role, groups)}
              />
            ))}
            <TextInput
              label="Claim with the groups"
              maxLength={255}
              value={groupsClaim}
              onChange={(event) => draft.change({ groupsClaim: event.currentTarget.value })}
            />
          </div>
        </details>
        {hasNewUsers && (
          <AccessFields
            access={newUsers}
            problem={problem}
            roles={NEW_ROLES}
            onChange={(newUsers) => draft.change({ newUsers })}
          />
        )}
        <FormEnd
          draft={draft}
          verb={provider ? 'Save provider' : 'Add provider'}
          error={problem?.message}
          isBusy={isBusy}
          isDisabled={
            !isReady || (!provider && clientSecret === '') || (hasNewUsers && !isComplete(newUsers))
          }
          onClose={onClose}
        />
      </form>
    </Modal>
  )
}

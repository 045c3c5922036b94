import { Button, Modal, PasswordInput, Switch, TagsInput, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { type Problem, problemOf } from '../api/problem.ts'
import type { IdentityProvider } from '../api/provider-queries.ts'
import { ErrorText } from '../components/error-text.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { type Access, AccessFields, isComplete } from './access-fields.tsx'
import { ROLES, type Role } from './people-text.ts'

interface ProviderDialogProps {
  /** The provider to edit; a new one if undefined. */
  provider: IdentityProvider | undefined
  onClose(): void
}

const NEW_ROLES: Role[] = ['member', 'viewer']
const GROUP_ROLES: Role[] = ['owner', 'member', 'viewer']

/** Adds or edits an identity provider. */
export function ProviderDialog({ provider, onClose }: ProviderDialogProps) {
  const { mutate, isBusy } = useMutation('identity-providers', 'sign-in')
  const [name, setName] = useState(provider?.name ?? '')
  const [issuer, setIssuer] = useState(provider?.issuer ?? '')
  const [clientId, setClientId] = useState(provider?.clientId ?? '')
  const [clientSecret, setClientSecret] = useState('')
  const [scopes, setScopes] = useState(provider?.scopes ?? ['openid', 'profile', 'email'])
  const [groupsClaim, setGroupsClaim] = useState(provider?.groupsClaim ?? 'groups')
  const [requiredGroup, setRequiredGroup] = useState(provider?.requiredGroup ?? '')
  const [isAllowed, setAllowed] = useState(provider?.createUsers === 'allowed')
  const [allowedDomains, setAllowedDomains] = useState(provider?.allowedDomains ?? [])
  const [roleByGroup, setRoleByGroup] = useState<Record<string, Role>>(provider?.roleByGroup ?? {})
  const [access, setAccess] = useState<Access>(provider?.newUsers ?? { role: 'member', projectIds: null })
  const [problem, setProblem] = useState<Problem>()
  const errors = problem?.byField ?? {}
  const hasNewUsers = isAllowed || Object.keys(roleByGroup).length > 0
  const isReady = [name, issuer, clientId].every((text) => text.trim() !== '')

  async function save(event: FormEvent) {
    event.preventDefault()
    setProblem(undefined)
    // Cast: the field offers no other roles.
    const newUsers = { ...access, role: access.role as 'member' | 'viewer' }
    const body = {
      name: name.trim(),
      clientId: clientId.trim(),
      scopes,
      groupsClaim: groupsClaim.trim() || 'groups',
      requiredGroup: requiredGroup.trim() || null,
      createUsers: isAllowed ? ('allowed' as const) : ('invited' as const),
      allowedDomains,
      roleByGroup,
      newUsers: hasNewUsers ? newUsers : null,
      ...(clientSecret && { clientSecret: clientSecret.trim() }),
    }
    await mutate('', async () => {
      try {
        if (provider) {
          const params = { path: { id: provider.id } }
          await dataOf(api.PATCH('/api/identity-providers/{id}', { params, body }))
        } else {
          const created = { ...body, issuer: issuer.trim(), clientSecret: clientSecret.trim() }
          await dataOf(api.POST('/api/identity-providers', { body: created }))
        }
        onClose()
      } catch (error) {
        setProblem(problemOf(error))
      }
    })
  }

  const groupsOf = (role: Role) => Object.keys(roleByGroup).filter((group) => roleByGroup[group] === role)
  const setGroupsOf = (role: Role, groups: string[]) => {
    const others = Object.entries(roleByGroup).filter(([, other]) => other !== role)
    setRoleByGroup(Object.fromEntries([...others, ...groups.map((group) => [group, role])]))
  }

  return (
    <Modal opened onClose={onClose} title={provider ? `Edit “${provider.name}”` : 'Add a provider'}>
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
          onChange={(event) => setName(event.currentTarget.value)}
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
          onChange={(event) => setIssuer(event.currentTarget.value)}
        />
        <TextInput
          label="Client ID"
          required
          maxLength={255}
          value={clientId}
          error={errors['/clientId']}
          onChange={(event) => setClientId(event.currentTarget.value)}
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
        <TagsInput label="Scopes" maxTags={20} value={scopes} onChange={setScopes} />
        <TextInput
          label="Required group"
          description="Optional. Only its members can sign in."
          maxLength={255}
          value={requiredGroup}
          onChange={(event) => setRequiredGroup(event.currentTarget.value)}
        />
        <Switch
          label="Create people at their first sign-in"
          description="Otherwise they are invited, or link the provider to their account."
          checked={isAllowed}
          onChange={({ currentTarget }) => setAllowed(currentTarget.checked)}
        />
        {isAllowed && (
          <TagsInput
            label="Email domains"
            description="Only people with a verified address in one of these are created. Optional with a required group."
            placeholder={allowedDomains.length === 0 ? 'example.com' : ''}
            maxTags={20}
            value={allowedDomains}
            error={errors['/allowedDomains'] ?? errors['/allowedDomains/0']}
            onChange={setAllowedDomains}
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
              onChange={(event) => setGroupsClaim(event.currentTarget.value)}
            />
          </div>
        </details>
        {hasNewUsers && (
          <AccessFields access={access} problem={problem} roles={NEW_ROLES} onChange={setAccess} />
        )}
        {problem && <ErrorText>{problem.message}</ErrorText>}
        <div>
          <Button
            type="submit"
            loading={isBusy}
            disabled={!isReady || (!provider && clientSecret === '') || (hasNewUsers && !isComplete(access))}
          >
            {provider ? 'Save provider' : 'Add provider'}
          </Button>
        </div>
      </form>
    </Modal>
  )
}

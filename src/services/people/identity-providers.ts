import type { IdentityProviderClient } from '../../clients/identity-provider.ts'
import type { Operations } from '../../domain/operation.ts'
import {
  type FieldError,
  identityProviderExists,
  identityProviderInUse,
  identityProviderNotFound,
  identityProviderReadOnly,
  insufficientScope,
  tooManyIdentityProviders,
  validationFailed,
} from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { isLoopback } from '../../lib/loopback.ts'
import type { BoundRepositories, Repositories } from '../../repositories/index.ts'
import type { IdentityProviderRow } from '../../repositories/people/identity-providers.ts'
import { repaired } from '../../schemas/formats.ts'
import {
  ENVIRONMENT_PROVIDER,
  type IdentityProvider,
  type IdentityProviderChange,
  type IdentityProviderTest,
  MAX_IDENTITY_PROVIDERS,
  type NewIdentityProvider,
} from '../../schemas/identity-provider.ts'
import type { Caller } from '../access.ts'
import { actorOf, changeLog } from '../activity/row.ts'
import type { PipeRecorder } from '../recorder.ts'
import { mayManagePeople } from './managers.ts'
import { isSameUrl, type Provider, type ProviderDirectory } from './provider-directory.ts'
import type { ProviderSecrets } from './provider-secrets.ts'
import type { SignInMethods } from './sign-in-methods.ts'
import { MANAGING_PEOPLE, requireProjects, storedReach } from './users.ts'

interface IdentityProvidersDeps {
  repos: Repositories
  clock: Clock
  client: Pick<IdentityProviderClient, 'test' | 'forget'>
  directory: ProviderDirectory
  secrets: ProviderSecrets
  publicUrl: string | undefined
  pipes: PipeRecorder
  methods: Pick<SignInMethods, 'hasPasswords' | 'rpId'>
}

export const identityProviderOperations = {
  create: MANAGING_PEOPLE,
  list: { scope: 'admin', isServiceWide: true },
  get: { scope: 'admin', isServiceWide: true },
  update: MANAGING_PEOPLE,
  delete: MANAGING_PEOPLE,
  test: MANAGING_PEOPLE,
} satisfies Operations<ReturnType<typeof identityProvidersService>>

/** Where people sign in that have an account elsewhere. */
export function identityProvidersService(deps: IdentityProvidersDeps) {
  const { repos, clock, client, directory, secrets, publicUrl, pipes, methods } = deps
  const record = changeLog(clock)

  return {
    /**
     * @throws validation_failed, encryption_key_missing, identity_provider_exists, too_many_identity_providers,
     * project_not_found, project_archived
     */
    async create(caller: Caller, { clientSecret, ...input }: NewIdentityProvider): Promise<IdentityProvider> {
      const now = clock.now()
      const id = clock.newId(now)
      const row: IdentityProviderRow = {
        id,
        scopes: ['openid', 'profile', 'email'],
        groupsClaim: 'groups',
        requiredGroup: null,
        roleByGroup: {},
        createUsers: 'invited',
        isActive: true,
        ...input,
        allowedDomains: [...new Set(input.allowedDomains)],
        newUsers: storedNewUsers(input.newUsers),
        clientSecret: secrets.store(id, clientSecret),
        createdAt: now,
      }
      requireIssuer(row.issuer)
      requireRules(row)
      await repos.within(caller).transaction(async (repos) => {
        await requireManager(repos, caller)
        await repos.identityProviders.lockInserts()
        const all = await directory.list(repos)
        if (all.some(({ issuer }) => isSameUrl(issuer, row.issuer))) throw identityProviderExists(row.issuer)
        const rows = all.filter(({ id }) => id !== ENVIRONMENT_PROVIDER)
        if (rows.length >= MAX_IDENTITY_PROVIDERS) throw tooManyIdentityProviders(MAX_IDENTITY_PROVIDERS)
        await requireProjects(repos, { after: row.newUsers?.projectIds ?? null })
        await repos.identityProviders.insert(row)
        await record(repos, { now, type: 'identity.provider_created', caller, metadata: about(row) })
      })
      return toProvider(row)
    },

    /** All of them, the one of the environment first. */
    async list(caller: Caller): Promise<{ data: IdentityProvider[]; nextCursor: null }> {
      const all = await directory.list(repos.within(caller))
      return { data: all.map(toProvider), nextCursor: null }
    },

    /** @throws identity_provider_not_found */
    async get(caller: Caller, id: string): Promise<IdentityProvider> {
      return toProvider(await providerOf(repos.within(caller), id))
    },

    /**
     * @throws identity_provider_not_found, identity_provider_read_only, validation_failed, encryption_key_missing,
     * project_not_found, project_archived
     */
    async update(
      caller: Caller,
      { id, change: { clientSecret, ...input } }: { id: string; change: IdentityProviderChange },
    ): Promise<IdentityProvider> {
      const changed = await repos.within(caller).transaction(async (repos) => {
        await requireManager(repos, caller)
        const before = await lockedProvider(repos, id)
        const { newUsers, allowedDomains, ...rest } = input
        const change = {
          ...rest,
          ...(allowedDomains && { allowedDomains: [...new Set(allowedDomains)] }),
          ...(newUsers !== undefined && { newUsers: storedNewUsers(newUsers) }),
          ...(clientSecret !== undefined && { clientSecret: secrets.store(before.id, clientSecret) }),
        }
        const after = { ...before, ...change }
        requireRules(after)
        const [old, next] = [before, after].map(({ newUsers }) => newUsers?.projectIds ?? null)
        await requireProjects(repos, { before: old ?? null, after: next ?? null })
        await repos.identityProviders.update(before.id, change)
        const fields = [...Object.keys(input), ...(clientSecret === undefined ? [] : ['clientSecret'])]
        const metadata = { ...about(after), fields }
        await record(repos, { now: clock.now(), type: 'identity.provider_updated', caller, metadata })
        return after
      })
      client.forget()
      return toProvider(changed)
    },

    /**
     * Deletes a provider with the links of people to it.
     * @throws identity_provider_not_found, identity_provider_read_only, identity_provider_in_use
     */
    async delete(caller: Caller, { id, isConfirmed }: { id: string; isConfirmed: boolean }): Promise<void> {
      await repos.within(caller).transaction(async (repos) => {
        await requireManager(repos, caller)
        const row = await lockedProvider(repos, id)
        const { hasPasswords, rpId } = methods
        const others = { hasPasswords, rpId, hasEnvironment: directory.isOfEnvironment }
        const count = await repos.identities.countDependent(row.id, others)
        if (count > 0 && !isConfirmed) throw identityProviderInUse(count)
        await repos.identities.deleteOfProvider(row.id)
        await repos.identityProviders.delete(row.id)
        const metadata = { ...about(row), peopleWithoutAnotherWayIn: count }
        await record(repos, { now: clock.now(), type: 'identity.provider_deleted', caller, metadata })
      })
      client.forget()
    },

    /**
     * Reads the configuration and the keys of a provider as they are now.
     * @throws identity_provider_not_found
     */
    async test(caller: Caller, id: string): Promise<IdentityProviderTest> {
      const bound = repos.within(caller)
      const provider = await providerOf(bound, id)
      const access = await directory.accessOf(bound, provider)
      const steps = access
        ? await client.test(access)
        : [{ step: 'discovery' as const, isOk: false, message: UNREADABLE }]
      const broken = steps.find(({ isOk }) => !isOk)
      const pipe = { kind: 'identity_provider', id: provider.id } as const
      if (broken) pipes.failed(pipe, { code: 'provider_unreachable', message: broken.message })
      else pipes.succeeded(pipe)
      const redirectUrl = redirectUrlOf(publicUrl, provider.id)
      const redirect = {
        step: 'redirect' as const,
        isOk: redirectUrl !== null,
        message: redirectUrl ?? 'Set PUBLIC_URL to the address of this service, and restart it.',
      }
      const all = [...steps, redirect]
      return { isOk: all.every(({ isOk }) => isOk), steps: all }
    },
  }

  /** @throws identity_provider_not_found */
  async function providerOf(bound: BoundRepositories, id: string): Promise<Provider> {
    const provider = await directory.find(bound, id)
    if (!provider) throw identityProviderNotFound(id)
    return provider
  }

  /** @throws identity_provider_not_found, identity_provider_read_only */
  async function lockedProvider(repos: BoundRepositories, id: string): Promise<IdentityProviderRow> {
    if (id === ENVIRONMENT_PROVIDER && directory.isOfEnvironment) throw identityProviderReadOnly()
    const row = id === ENVIRONMENT_PROVIDER ? undefined : await repos.identityProviders.findForUpdate(id)
    if (!row) throw identityProviderNotFound(id)
    return row
  }

  function toProvider(provider: Provider): IdentityProvider {
    const { id, name, issuer, clientId, scopes, groupsClaim, requiredGroup, roleByGroup } = provider
    const { createUsers, allowedDomains, newUsers, isActive, createdAt } = provider
    return {
      id,
      name,
      issuer,
      clientId,
      scopes,
      groupsClaim,
      requiredGroup,
      roleByGroup,
      createUsers,
      allowedDomains,
      newUsers,
      isActive,
      redirectUrl: redirectUrlOf(publicUrl, id),
      createdAt: createdAt?.toISOString() ?? null,
    }
  }
}

const UNREADABLE =
  'The client secret cannot be decrypted: ENCRYPTION_KEY was changed. Set it or ENCRYPTION_KEY_PREVIOUS to the key from before, or set the client secret again.'

/** Where a provider sends browsers back to: only there, whatever address a request was sent to. */
export const redirectUrlOf = (publicUrl: string | undefined, id: string): string | null =>
  publicUrl === undefined ? null : `${publicUrl}/auth/${id}/callback`

/** @throws insufficient_scope if the request has waited for one that took the rights of its sender */
async function requireManager(repos: BoundRepositories, caller: Caller): Promise<void> {
  if (!(await mayManagePeople(repos, actorOf(caller)))) throw insufficientScope('admin')
}

const about = ({ id, name }: Pick<IdentityProviderRow, 'id' | 'name'>) => ({ providerId: id, name })

const storedNewUsers = (given: NewIdentityProvider['newUsers']): IdentityProviderRow['newUsers'] =>
  given ? { role: given.role, projectIds: storedReach(given.projectIds) } : null

/** @throws validation_failed */
function requireIssuer(issuer: string): void {
  const url = URL.parse(issuer)
  const isDocument = url?.pathname.includes('/.well-known/')
  const isPlain = url && !url.username && !url.password && !url.search && !url.hash && !isDocument
  if (isPlain && (url.protocol === 'https:' || isLoopback(url.hostname))) return
  const message = 'must be https, without user, query, fragment and /.well-known/'
  throw validationFailed([{ path: '/issuer', code: 'wrong_format', message }])
}

/** @throws validation_failed if the rules let in nobody, or everybody */
function requireRules(rules: IdentityProviderRow): void {
  const { createUsers, allowedDomains, requiredGroup, newUsers, roleByGroup } = rules
  const errors: FieldError[] = []
  const addMissing = (path: string, message: string) => errors.push({ path, code: 'required', message })
  const isAllowed = createUsers === 'allowed'
  if (isAllowed && allowedDomains.length === 0 && requiredGroup === null) {
    addMissing('/allowedDomains', 'is required with createUsers allowed, unless requiredGroup is set')
  }
  if (!newUsers && isAllowed) addMissing('/newUsers', 'is required with createUsers allowed')
  else if (!newUsers && Object.keys(roleByGroup).length > 0) {
    addMissing('/newUsers', 'is required with roleByGroup: its role is that of people without a listed group')
  }
  const isStorable = (group: string) => group !== '' && group.length <= 255 && repaired(group) === group
  if (!Object.keys(roleByGroup).every(isStorable)) {
    const message = 'must have names of 1 to 255 valid characters'
    errors.push({ path: '/roleByGroup', code: 'wrong_format', message })
  }
  if (errors.length > 0) throw validationFailed(errors)
}

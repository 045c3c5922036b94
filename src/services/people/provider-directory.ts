import type { ProviderRules } from '../../domain/identity.ts'
import type { BoundRepositories } from '../../repositories/index.ts'
import type { IdentityProviderRow } from '../../repositories/people/identity-providers.ts'
import type { EnvironmentPipe } from '../../repositories/pipes/index.ts'
import { ENVIRONMENT_PROVIDER } from '../../schemas/identity-provider.ts'
import type { ProviderSecrets } from './provider-secrets.ts'

/** What the environment says about an identity provider. */
export interface EnvironmentProvider {
  issuer: string
  clientId: string
  clientSecret: string
}

/** A provider, whether it is a row or the one of the environment, without its secret. */
export type Provider = ProviderRules &
  Omit<IdentityProviderRow, 'clientSecret' | 'createdAt' | keyof ProviderRules> & {
    /** Null for the one of the environment. */
    createdAt: Date | null
  }

interface DirectoryDeps {
  environment: EnvironmentProvider | undefined
  secrets: ProviderSecrets
}

type Rows = Pick<BoundRepositories, 'identityProviders'>

export type ProviderDirectory = ReturnType<typeof providerDirectory>

/** All identity providers. */
export function providerDirectory({ environment, secrets }: DirectoryDeps) {
  const ofEnvironment = environment && toProvider(environment)

  return {
    list,

    /** Those that people can sign in with, for anybody. */
    async listActive(rows: Rows): Promise<{ id: string; name: string }[]> {
      const active = (await list(rows)).filter(({ isActive }) => isActive)
      return active.map(({ id, name }) => ({ id, name }))
    },

    async find(rows: Rows, id: string): Promise<Provider | undefined> {
      return id === ENVIRONMENT_PROVIDER ? currentEnvironment(rows) : rows.identityProviders.find(id)
    },

    /** With a lock against changes. */
    async findForShare(rows: Rows, id: string): Promise<Provider | undefined> {
      return id === ENVIRONMENT_PROVIDER ? currentEnvironment(rows) : rows.identityProviders.findForShare(id)
    },

    /** With its secret; undefined if it cannot be decrypted. */
    async accessOf({ identityProviders }: Rows, { id, issuer, clientId, scopes }: Provider) {
      const row = id === ENVIRONMENT_PROVIDER ? undefined : await identityProviders.find(id)
      const clientSecret = row ? secrets.read(row) : environment?.clientSecret
      return clientSecret === undefined ? undefined : { id, issuer, clientId, clientSecret, scopes }
    },

    isOfEnvironment: environment !== undefined,
  }

  /** The one of the environment is the first. */
  async function list(rows: Rows): Promise<Provider[]> {
    const stored = await rows.identityProviders.list()
    return [...withoutIssuersOf(stored), ...stored]
  }

  async function currentEnvironment(rows: Rows): Promise<Provider | undefined> {
    return ofEnvironment && withoutIssuersOf(await rows.identityProviders.list())[0]
  }

  /** The one of the environment has no rules: it must not let in whom another one with the same issuer keeps out. */
  function withoutIssuersOf(stored: Pick<Provider, 'issuer'>[]): Provider[] {
    if (!ofEnvironment || stored.some(({ issuer }) => isSameUrl(issuer, ofEnvironment.issuer))) return []
    return [ofEnvironment]
  }
}

/** The provider of the environment, as the status shows it. */
export const environmentPipe = (environment: EnvironmentProvider | undefined): EnvironmentPipe | undefined =>
  environment && { name: nameOf(environment), issuer: environment.issuer }

const nameOf = ({ issuer }: EnvironmentProvider) => new URL(issuer).hostname

/** It invites nobody by itself, and decides no roles. */
const toProvider = (environment: EnvironmentProvider): Provider => ({
  id: ENVIRONMENT_PROVIDER,
  name: nameOf(environment),
  issuer: environment.issuer,
  clientId: environment.clientId,
  scopes: ['openid', 'profile', 'email'],
  groupsClaim: 'groups',
  requiredGroup: null,
  roleByGroup: {},
  createUsers: 'invited',
  allowedDomains: [],
  newUsers: null,
  isActive: true,
  createdAt: null,
})

export const isSameUrl = (one: string, other: string) => URL.parse(one)?.href === URL.parse(other)?.href

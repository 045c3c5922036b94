import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Configuration } from 'oidc-provider'

/** Somebody with an account at the provider. */
export interface Account {
  sub: string
  [claim: string]: unknown
}

export const CLIENT = { clientId: 'inlet', clientSecret: 'a-secret-of-the-client' }

/** A real provider in this process, at which everybody who comes is signed in at once. */
export async function startOidcProvider({ port = 0 } = {}) {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const accounts = new Map<string, Account>()
  let current: Account = { sub: 'nobody' }

  return {
    issuer,

    /** Registers Inlet, as an administrator of the provider does. */
    async register(redirectUrl: string | null): Promise<void> {
      const { default: Provider } = await import('oidc-provider')
      const provider = new Provider(issuer, configurationWith(accounts, redirectUrl ?? ''))
      const handle = provider.callback()
      server.removeAllListeners('request').on('request', async (request, response) => {
        if (!request.url?.startsWith('/interaction/')) return handle(request, response)
        await provider.interactionFinished(request, response, { login: { accountId: current.sub } })
      })
    },

    /** Who is signed in at the provider from now on. */
    signIn(account: Account): void {
      current = account
      accounts.set(account.sub, account)
    },

    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

const configurationWith = (accounts: Map<string, Account>, redirectUrl: string): Configuration => ({
  clients: [
    {
      client_id: CLIENT.clientId,
      client_secret: CLIENT.clientSecret,
      redirect_uris: [redirectUrl],
    },
  ],
  claims: {
    openid: ['sub'],
    email: ['email', 'email_verified'],
    profile: ['name', 'preferred_username'],
    groups: ['groups'],
  },
  cookies: { keys: ['of a test'] },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_, { uid }) => `/interaction/${uid}` },
  findAccount: async (_, sub) => ({
    accountId: sub,
    claims: async () => accounts.get(sub) ?? { sub },
  }),
  // Nobody is asked what the client may know.
  async loadExistingGrant({ oidc }) {
    const { client, session } = oidc
    if (!client || !session?.accountId) return undefined
    const grant = new oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId })
    grant.addOIDCScope('openid email profile groups')
    await grant.save()
    return grant
  },
})

import { randomBytes } from 'node:crypto'
import { systemClock } from '../lib/clock.ts'
import { everywhere, type Repositories } from '../repositories/index.ts'
import { SERVICE } from '../services/activity/row.ts'
import { readAll } from '../services/page.ts'
import { checkedInvite, invitePage, invitesService } from '../services/people/invites.ts'
import { passwordSignIn } from '../services/people/password-sign-in.ts'
import { passwordHashes } from '../services/people/passwords.ts'
import { providerDirectory } from '../services/people/provider-directory.ts'
import { providerSecrets } from '../services/people/provider-secrets.ts'
import { ROLES, usersService } from '../services/people/users.ts'
import { type Call, checkedName, print, refuseWords, usage } from './call.ts'
import { onDatabase } from './database.ts'

/** `users list`: one line for each person. */
export async function listUsers({ config, words, signal }: Call): Promise<void> {
  refuseWords(words)
  await onDatabase({ config, signal }, async ({ repos }) => {
    const { users } = repos.within(everywhere)
    for (const { username, name, role, projectIds, isActive } of await readAll(users.list)) {
      const reach = projectIds === null ? 'all projects' : `${projectIds.length} projects`
      print(`${username}  ${name}  ${role}  ${reach}${isActive ? '' : '  deactivated'}`)
    }
    return undefined
  })
}

/** `users invite`: for all projects. */
export async function inviteUser({ config, words, options, signal }: Call): Promise<void> {
  refuseWords(words)
  if (options.name === undefined) throw usage()
  const name = checkedName(options.name)
  const role = ROLES.find((role) => role === options.role)
  if (!role) throw new Error(`--role must be one of ${ROLES.join(', ')}.`)
  const input = checkedInvite({ name, role })
  await onDatabase({ config, signal }, async ({ repos }) => {
    const { publicUrl } = config
    const hashes = passwordHashes({ randomBytes })
    const passwords = passwordSignIn({ ...repos, hashes, randomBytes, ...ONCE, isOn: config.signIn.password })
    const secrets = providerSecrets({ encryptionKeys: undefined, randomBytes })
    const directory = providerDirectory({ environment: config.identityProvider, secrets })
    const hasProviders = async () => (await directory.listActive(repos.within(everywhere))).length > 0
    const invites = invitesService({ ...depsOn(repos), passwords, publicUrl, hasProviders })
    const invite = await invites.createAs(SERVICE, input)
    print(`Invite (shown only once, valid for 7 days):\n  ${publicUrl ?? ''}${invitePage(invite)}`)
    if (!publicUrl) print('Open this page at the address of your dashboard.')
    return undefined
  })
}

/** `users deactivate`: running instances end the person's sessions at once. */
export async function deactivateUser({ config, words, signal }: Call): Promise<void> {
  const [username, ...others] = words
  refuseWords(others)
  if (username === undefined) throw usage()
  await onDatabase({ config, signal }, async ({ repos }) => {
    const user = await repos.within(everywhere).users.findByUsername(username)
    if (!user) return `No person has the username ${username}.`
    const users = usersService(depsOn(repos))
    const { keysToRotate } = await users.updateAs(SERVICE, { id: user.id, change: { isActive: false } })
    print(`Deactivated ${username}.`)
    for (const { name } of keysToRotate) print(`Rotate the key "${name}": ${username} created it.`)
    return undefined
  })
}

/** Nobody guesses here. */
const ONCE = { maxWrongPasswords: 0 }

/** Running instances are notified by the database. */
const depsOn = (repos: Repositories) => ({
  repos,
  access: { forget() {} },
  clock: systemClock(),
  randomBytes,
  metrics: { claimed() {} },
})

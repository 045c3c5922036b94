import type { ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, vi } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { freePort } from '../support/free-port.ts'
import {
  fetchKeycloak,
  PASSWORD as KEYCLOAK_PASSWORD,
  type Keycloak,
  type Realm,
  startKeycloak,
} from '../support/keycloak.ts'
import { ALLOWED, addProvider } from '../support/providers.ts'
import { launchBrowser, type Page } from '../tools/playwright.ts'
import { type AppInBrowser, panelOf, testWith } from './support/browser.ts'
import { addPasskey, passkeys, signInByPasskey, withAuthenticator } from './support/passkeys.ts'
import {
  addProviderInDialog,
  field,
  givenPerson,
  linkIn,
  openAs,
  PASSWORD,
  pickAction,
  signInByPassword,
  signOut,
} from './support/people.ts'

let keycloak: Keycloak | undefined
let unavailable: string | undefined

// Keycloak has 180 MB, and builds itself at its first start.
beforeAll(async () => {
  const fetched = await fetchKeycloak()
  if ('archive' in fetched) keycloak = await startKeycloak(fetched.archive)
  else unavailable = fetched.unavailable
}, 15 * 60_000)
afterAll(() => keycloak?.close())

/** A service that providers can come back to, and a realm. */
const test = testWith(async () => {
  if (!keycloak) throw new Error(unavailable)
  const realm = await keycloak.addRealm()
  await realm.addUser({ username: 'grace', name: ['Grace', 'Hopper'], groups: ['staff'] })
  const port = await freePort()
  const env = { PUBLIC_URL: `http://127.0.0.1:${port}`, ENCRYPTION_KEY: 'ab'.repeat(32) }
  return Object.assign(await startApp({ env, port }), { realm })
})
type App = AppInBrowser<TestApp & { realm: Realm }>

/** Adds the realm as a provider. */
async function givenProvider({ service }: App, body: object = ALLOWED): Promise<string> {
  const { issuer, register } = service.realm
  const { id, redirectUrl } = await addProvider(service, { name: 'Keycloak', issuer, ...body })
  await register(redirectUrl)
  return id
}

/** Signs in at Keycloak in a new browser. */
async function signInAtKeycloak(app: App, username = 'grace'): Promise<Page> {
  const page = await app.open('/sign-in', { key: null })
  await page.getByRole('link', { name: 'Continue with Keycloak' }).click()
  await fillKeycloakPage(page, username)
  return page
}

async function fillKeycloakPage(page: Page, username: string): Promise<void> {
  await field(page, 'Username or email').fill(username)
  await field(page, 'Password').fill(KEYCLOAK_PASSWORD)
  await page.getByRole('button', { name: 'Sign In' }).click()
}

const signedInAs = (page: Page, name: RegExp) => page.getByRole('button', { name }).waitFor()

/** Two instances under one address, which is the first one for the browser of the tests. */
const testWithTwo = testWith(async () => {
  const port = await freePort()
  const url = `http://localhost:${port}`
  const env = { PUBLIC_URL: url, ENCRYPTION_KEY: 'ab'.repeat(32) }
  const service = await startApp({ env, port })
  const second = await startApp({ env, connectionString: service.connectionString })
  const secondPort = new URL(second.url).port
  const other = await launchBrowser([`--host-resolver-rules=MAP localhost:${port} 127.0.0.1:${secondPort}`])
  const { close } = service
  return Object.assign(service, {
    ...{ url, second },
    /** A page at the second instance, in a browser of its own. */
    openAtSecond: async (address: string) => {
      const page = await other.newPage()
      page.setDefaultTimeout(30_000)
      await page.goto(address)
      return page
    },
    close: async () => {
      await other.close()
      await second.close()
      await close()
    },
  })
})

describe('the whole way of a person', () => {
  testWithTwo('leads in by an invite, and out at once on both instances', async ({ app }) => {
    const { service } = app
    const { second } = service
    const task = (await service.post('/api/tasks', { title: 'Find the moth' })).body
    const claimAtSecond = async () =>
      (await second.get(`/api/tasks/${task.id}`, { key: service.adminKey })).body.claim

    // The first owner, from the session of the admin key.
    const ada = await app.open('/settings/people')
    await ada.getByRole('button', { name: 'Create your account' }).click()
    const creation = ada.getByRole('dialog', { name: 'Create your account' })
    await field(creation, 'Username').fill('ada')
    await field(creation, 'Name').fill('Ada Lovelace')
    await field(creation, 'Password').fill(PASSWORD)
    await creation.getByRole('button', { name: 'Create account' }).click()
    await signedInAs(ada, /Ada Lovelace.*owner/)

    // An invite, in the second browser.
    await ada.goto(`${service.url}/settings/people`)
    await ada.getByRole('button', { name: 'Invite a person' }).click()
    const invite = ada.getByRole('dialog', { name: 'Invite a person' })
    await field(invite, 'Name').fill('Grace Hopper')
    await invite.getByRole('button', { name: 'Create invite' }).click()
    const grace = await service.openAtSecond(await linkIn(ada, 'Invite for Grace Hopper'))
    await field(grace, 'Username').fill('grace')
    await field(grace, 'Password').fill(PASSWORD)
    await grace.getByRole('button', { name: 'Create account', exact: true }).click()
    await signedInAs(grace, /Grace Hopper.*member/)

    if (keycloak) await linkAndSignIn(grace, { service, realm: await keycloak.addRealm() })

    // A passkey.
    await grace.goto(`${service.url}/settings/account`)
    await withAuthenticator(grace)
    await addPasskey(grace, 'Laptop')
    await passkeys(grace).waitFor()
    await signOut(grace)
    await signInByPasskey(grace)
    await signedInAs(grace, /Grace Hopper.*member/)

    // A claim.
    const streams: ServerResponse[] = []
    second.app.server.on(
      'request',
      ({ url }, response) => url?.startsWith('/api/stream') && streams.push(response),
    )
    const isFollowed = () => expect.poll(() => streams.at(-1)?.closed).toBe(false)
    await grace.goto(`${service.url}/tasks/${task.id}`)
    await isFollowed()
    await panelOf(grace).getByRole('button', { name: 'More actions' }).click()
    await grace.getByRole('menuitem', { name: 'Claim' }).click()
    await panelOf(grace).getByText('Claimed by you').waitFor()
    expect(await claimAtSecond()).toMatchObject({ by: { type: 'user', name: 'Grace Hopper' } })

    // A lower role, without a reload.
    let loads = 0
    grace.on('load', () => loads++)
    await grace.getByRole('button', { name: 'New task' }).waitFor()
    await pickAction(ada, 'Grace Hopper', 'Change role and projects')
    const access = ada.getByRole('dialog', { name: 'Access of Grace Hopper' })
    await access.getByRole('combobox', { name: 'Role' }).click()
    await ada.getByRole('option', { name: 'Viewer' }).click()
    await access.getByRole('button', { name: 'Save access' }).click()
    await access.waitFor({ state: 'detached' })
    await signedInAs(grace, /Grace Hopper.*viewer/)
    await grace.getByRole('button', { name: 'New task' }).waitFor({ state: 'detached' })
    await panelOf(grace).getByRole('button', { name: 'Mark done' }).waitFor({ state: 'detached' })
    expect(await claimAtSecond()).toMatchObject({ by: { name: 'Grace Hopper' } })

    // The end, within a second.
    await isFollowed()
    await pickAction(ada, 'Grace Hopper', 'Deactivate')
    const sent = ada.waitForRequest((request) => request.method() === 'PATCH')
    await ada.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click()
    await sent
    await Promise.all([
      expect.poll(() => streams.some(({ closed }) => !closed), { timeout: 1_000, interval: 20 }).toBe(false),
      expect.poll(claimAtSecond, { timeout: 1_000, interval: 20 }).toBeNull(),
    ])
    await grace.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
    expect(loads).toBe(0)
  })
})

interface Linking {
  service: TestApp
  realm: Realm
}

/** Links Keycloak under Account, and signs in with it. */
async function linkAndSignIn(page: Page, { service, realm }: Linking): Promise<void> {
  await realm.addUser({ username: 'ghopper', name: ['Grace', 'Hopper'] })
  const { redirectUrl } = await addProvider(service, { name: 'Keycloak', issuer: realm.issuer })
  await realm.register(redirectUrl)
  await page.goto(`${service.url}/settings/account`)
  await page.getByRole('button', { name: 'Link Keycloak' }).click()
  await fillKeycloakPage(page, 'ghopper')
  await page.getByRole('button', { name: 'Unlink' }).waitFor()
  await signOut(page)
  await page.getByRole('link', { name: 'Continue with Keycloak' }).click()
  await signedInAs(page, /Grace Hopper.*member/)
}

describe('Keycloak', () => {
  beforeEach(({ skip }) => skip(unavailable !== undefined, unavailable))
  afterEach(() => vi.useRealTimers())

  test('is added and tested by an owner, and lets in somebody new', async ({ app }) => {
    const { realm } = app.service
    await givenPerson(app, { username: 'ada', name: 'Ada', role: 'owner' })
    const owner = await openAs(app, 'ada', '/settings/sign-in')
    await realm.register(await addProviderInDialog(owner, { name: 'Keycloak', issuer: realm.issuer }))

    await owner.getByRole('button', { name: 'Test', exact: true }).click()
    const steps = owner.getByRole('dialog', { name: 'Test of “Keycloak”' })
    for (const step of ['Configuration', 'Keys', 'Redirect URL'])
      await steps.getByText(`${step}: OK`).waitFor()

    const page = await signInAtKeycloak(app)
    await signedInAs(page, /Grace Hopper.*member/)
    const { body } = await app.service.get('/api/users')
    expect(body.data).toContainEqual(
      expect.objectContaining({ username: 'grace', name: 'Grace Hopper', email: 'grace@acme.com' }),
    )
  })

  test('decides the role by group at each sign-in', async ({ app }) => {
    const { realm } = app.service
    await givenPerson(app, { username: 'ada', name: 'Ada', role: 'owner' })
    const newUsers = { role: 'viewer', projectIds: null }
    await givenProvider(app, { ...ALLOWED, newUsers, roleByGroup: { staff: 'member', admins: 'owner' } })
    await signedInAs(await signInAtKeycloak(app), /Grace Hopper.*member/)
    await realm.setGroups('grace', ['staff', 'admins'])
    await signedInAs(await signInAtKeycloak(app), /Grace Hopper.*owner/)
    await realm.setGroups('grace', ['guests'])
    await signedInAs(await signInAtKeycloak(app), /Grace Hopper.*viewer/)
    // Keycloak sends no claim without groups.
    await realm.setGroups('grace', ['staff'])
    await signedInAs(await signInAtKeycloak(app), /Grace Hopper.*member/)
    await realm.setGroups('grace', [])
    await signedInAs(await signInAtKeycloak(app), /Grace Hopper.*member/)
  })

  test('puts out at once who has left the required group', async ({ app }) => {
    const { realm, query } = app.service
    await givenProvider(app, { ...ALLOWED, requiredGroup: 'staff' })
    const page = await signInAtKeycloak(app)
    await signedInAs(page, /Grace Hopper.*member/)
    await realm.setGroups('grace', [])
    const refused = await signInAtKeycloak(app)
    await refused.getByRole('alert').getByText('You are not in the group that may use Inlet.').waitFor()
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
    expect(await query('SELECT FROM sessions WHERE user_id IS NOT NULL')).toEqual([])
  })

  test('lets in with the keys of its realm, also once they are replaced', async ({ app }) => {
    await givenProvider(app)
    await signedInAs(await signInAtKeycloak(app), /Grace Hopper/)
    await app.service.realm.replaceKeys()
    // The keys are read at most once a minute.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
    await signedInAs(await signInAtKeycloak(app), /Grace Hopper/)
  })

  // The last one: a start takes long.
  test('that is stopped keeps nobody out who signs in in another way', async ({ app }) => {
    const id = await givenProvider(app)
    await givenPerson(app, { username: 'ada', name: 'Ada', role: 'member' })
    await keycloak?.stop()
    const begun = await app.service.get(`/auth/${id}`, { key: null })
    expect([begun.status, begun.headers.get('location')]).toEqual([
      303,
      '/sign-in?error=provider_unreachable',
    ])
    const page = await app.open('/sign-in', { key: null })
    await page.getByRole('link', { name: 'Continue with Keycloak' }).click()
    await page.getByRole('alert').getByText('The identity provider is down').waitFor()
    await signInByPassword(page, 'ada')
    await signedInAs(page, /Ada.*member/)
  })
})

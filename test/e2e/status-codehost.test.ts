import { randomUUID } from 'node:crypto'
import { describe, expect } from 'vitest'
import { deliver, itemDelivery } from '../support/code-host-deliveries.ts'
import { connectedForPush } from '../support/pushed.ts'
import { type Syncing, startSyncing } from '../support/syncing.ts'
import { settled, writingBack, writingComments } from '../support/writing-back.ts'
import { type AppInBrowser, panelOf, testWith, violationsOn } from './support/browser.ts'
import { expectGone, failing, markOf, SOON } from './support/failing.ts'
import { isInView } from './support/looks.ts'
import { withJobs } from './support/with-jobs.ts'

const test = testWith(() => withJobs(startSyncing()))

async function openOverview(app: AppInBrowser) {
  const page = await app.open('/overview', { isLive: true })
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  return page
}

/** A repository that reports an edit which only the code host can tell from an older one, and so has to be read there. */
async function unclearEdit(service: Syncing) {
  const token = randomUUID()
  service.host.tokens.set(token, {})
  const { project, repository, sync } = await service.connected({ token })
  repository.issue({ title: 'Before' })
  await sync()
  const webhook = (await service.post(`/api/projects/${project.id}/codehost/webhook-secret`)).body
  const item = repository.change(1, { title: 'After' }, 0)
  item.updatedAt = item.createdAt
  const edited = itemDelivery(item, {
    api: service.host.url,
    repository: repository.about,
    action: 'edited',
  })
  return { project, token, send: () => deliver(webhook, edited) }
}

/** Enters a new token in the form of the connection that is open. */
async function renewToken(page: Awaited<ReturnType<typeof openOverview>>, token: string) {
  await page.locator('input[type=password]').fill(token)
  await page.getByRole('button', { name: 'Save connection' }).click()
  await page.getByRole('button', { name: 'Edit connection' }).waitFor()
}

describe('the webhook of a repository is marked, explained, and one click from where it is mended:', () => {
  test('one that signs with another secret', async ({ app }) => {
    const { project, webhook, opened } = await connectedForPush(app.service)
    const page = await openOverview(app)

    expect((await deliver({ ...webhook, secret: 'another' }, opened())).status).toBe(401)
    await markOf(page).waitFor(SOON)
    await failing(page).getByText('Code host, webhook').waitFor()
    await failing(page)
      .getByText(/The signature does not match/)
      .waitFor()
    await failing(page).getByRole('link', { name: 'Open webhook' }).click()
    await page.waitForURL(`${app.service.url}/projects/${project.id}?show=webhook`)
    const section = page.getByRole('region', { name: 'Webhook' })
    await section
      .getByRole('alert')
      .getByText(/The signature does not match/)
      .waitFor()
    const renew = section.getByRole('button', { name: 'New secret' })
    await expect.poll(() => renew.evaluate(isInView)).toBe(true)
    expect(await violationsOn(page)).toEqual([])
    await renew.click()
    const dialog = page.getByRole('dialog', { name: 'Webhook secret' })
    const secret = await dialog.locator('pre').first().innerText()
    await dialog.getByRole('button', { name: "I've stored it" }).click()

    expect((await deliver({ ...webhook, secret }, opened())).status).toBe(202)
    await expectGone(page)
    await section.getByRole('alert').waitFor({ state: 'detached' })
  })

  test('one whose change could not be applied, because the token is refused', async ({ app }) => {
    const { service } = app
    const { project, token, send } = await unclearEdit(service)
    const page = await openOverview(app)

    service.host.tokens.delete(token)
    expect((await send()).status).toBe(202)
    await markOf(page).waitFor(SOON)
    await failing(page)
      .getByText(/The code host rejected the token/)
      .waitFor()
    await failing(page).getByRole('link', { name: 'View deliveries' }).click()
    await page.waitForURL(`${service.url}/incoming?receiver=codehost&projectId=${project.id}&outcome=failed`)
    await page.getByText(/The code host rejected the token/).waitFor()
    await page.getByRole('link', { name: 'Renew token' }).click()
    const renewed = randomUUID()
    service.host.tokens.set(renewed, {})
    await renewToken(page, renewed)
    await page.goBack()
    await page.getByRole('button', { name: 'Replay' }).click()
    await expectGone(page)
    const [task] = (await service.get(`/api/tasks?projectId=${project.id}`)).body.data
    expect(task.title).toBe('After')
  })
})

describe('what is written to a repository is marked, explained, and one click from where it is mended:', () => {
  test('the end of a task, with a token that may not write', async ({ app }) => {
    const { service } = app
    const { project, id, restrict, repository } = await writingBack(service)
    const page = await openOverview(app)

    restrict({ canWriteIssues: false })
    await service.patch(`/api/tasks/${id}`, { status: 'done' })
    await settled(service, id)
    await markOf(page).waitFor(SOON)
    await failing(page).getByText('Code host, write-back').waitFor()
    await failing(page)
      .getByText(/The token cannot write here/)
      .waitFor()
    await failing(page).getByRole('link', { name: 'Renew token' }).click()
    await page.waitForURL(`${service.url}/projects/${project.id}?edit=connection`)
    const renewed = randomUUID()
    service.host.tokens.set(renewed, { login: 'inlet-bot' })
    await renewToken(page, renewed)

    // It is written by itself.
    await expectGone(page)
    expect(repository.items.get(1)?.state).toBe('closed')
  })

  test('a comment on an issue that is locked', async ({ app }) => {
    const { service } = app
    const { id, post, repository, restrict } = await writingComments(service, [{ title: 'Locked' }])
    const page = await openOverview(app)

    restrict({ login: 'inlet-bot', isCollaborator: false })
    repository.change(1, { isLocked: true })
    await post('Not allowed')
    await settled(service, id)
    await markOf(page).waitFor(SOON)
    await failing(page)
      .getByText(/The issue is locked/)
      .waitFor()
    await page.goto(`${service.url}/settings/code-hosts`)
    await page.getByRole('link', { name: 'Open task' }).waitFor()
    await page.goBack()
    await failing(page).getByRole('link', { name: 'Open task' }).click()
    await page.waitForURL(`${service.url}/tasks/${id}`)
    repository.change(1, { isLocked: false })
    await panelOf(page).getByRole('alert').getByRole('button', { name: 'Retry' }).click()
    await expectGone(page)
    expect(repository.comments.size).toBe(1)
  })
})

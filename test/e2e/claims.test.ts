import { describe, expect } from 'vitest'
import type { Task } from '../../src/schemas/task.ts'
import {
  type AppInBrowser,
  createTask,
  expectNone,
  panelOf,
  rowOf,
  taskOf,
  test,
  violationsOn,
} from './support/browser.ts'

/** A task, and an assistant that has claimed it. */
async function givenClaimed(app: AppInBrowser, title: string) {
  const task: Task = await createTask(app, { title })
  const key = await app.service.given.key({ name: 'claude', scopes: ['tasks:read', 'tasks:write'] })
  const claimed = await app.service.post(`/api/tasks/${task.id}/claim`, { leaseSeconds: 1_800 }, { key })
  expect(claimed.status).toBe(200)
  return { task, key, number: claimed.body.claim.number as number }
}

describe('a claimed task', () => {
  test('says who works on it and until when, and can be taken over, extended, and released', async ({
    app,
  }) => {
    const { task, key, number } = await givenClaimed(app, 'Fix the export')
    const page = await app.open(`/tasks/${task.id}`, { isLive: true })
    await rowOf(page, 'Fix the export').getByTitle('Claimed by claude').getByText('in 29 min').waitFor()
    const claim = panelOf(page).getByRole('region', { name: 'Claim' })
    await claim.getByText(/Claimed by claude until .+\(in 29 min\)/).waitFor()
    expect(await violationsOn(page)).toEqual([])

    await claim.getByRole('button', { name: 'Take over' }).press('Enter')
    await claim.getByText(/Claimed by you until .*\(in 7 h\)/).waitFor()
    await panelOf(page).getByText('(overrode the claim of claude)').first().waitFor()
    const late = await app.service.patch(
      `/api/tasks/${task.id}`,
      { status: 'done', claimNumber: number },
      { key },
    )
    expect([late.status, late.body.code]).toEqual([409, 'claim_lost'])

    const { claim: mine } = await taskOf(app, task.id)
    await claim.getByRole('button', { name: 'Extend' }).click()
    await expect.poll(async () => (await taskOf(app, task.id)).claim?.expiresAt).not.toBe(mine?.expiresAt)
    await claim.getByRole('button', { name: 'Release' }).click()
    await claim.waitFor({ state: 'detached' })
    expect(await taskOf(app, task.id)).toMatchObject({ status: 'open', claim: null, isReady: true })
  })

  test('that is ready can be claimed from the menu', async ({ app }) => {
    const task: Task = await createTask(app, { title: 'Fix the export' })
    const page = await app.open(`/tasks/${task.id}`, { isLive: true })
    await panelOf(page).getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Claim' }).click()
    await panelOf(page).getByText('Claimed by you').waitFor()
    expect(await taskOf(app, task.id)).toMatchObject({
      status: 'in_progress',
      claim: { by: { type: 'session' } },
    })
    await panelOf(page).getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).waitFor()
    await expectNone(page, page.getByRole('menuitem', { name: 'Claim' }))
  })

  test('is found by a filter, and only shown to a key that may not write', async ({ app }) => {
    await createTask(app, { title: 'Nobody works on this' })
    const reader = await app.service.given.key({ scopes: ['tasks:read'] })
    const page = await app.open('/tasks?claimed=true', { key: reader, isLive: true })
    const { task } = await givenClaimed(app, 'Fix the export')
    await page.reload()
    await rowOf(page, 'Fix the export').waitFor()
    await page.getByRole('button', { name: 'Claimed: Yes' }).waitFor()
    await expectNone(page, rowOf(page, 'Nobody works on this'))

    await page.goto(`${app.service.url}/tasks/${task.id}`)
    const claim = panelOf(page).getByRole('region', { name: 'Claim' })
    await claim.getByText('Claimed by claude').waitFor()
    await expectNone(page, claim.getByRole('button'))
  })
})

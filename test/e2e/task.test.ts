import { describe, expect } from 'vitest'
import { createTask, delayRequests, panelOf, rowOf, test } from './support/browser.ts'

describe('a task', () => {
  test('renders untrusted text safely', async ({ app }) => {
    const asked: string[] = []
    const task = await createTask(app, {
      title: '<img src=x onerror=alert(1)> مهمة',
      description: `<script>window.wasRun = true</script>\n\n[press](javascript:window.wasRun=true)\n\n![pixel](https://elsewhere.example/pixel.png)\n\n${'x'.repeat(10_000)}`,
    })
    const page = await app.open('/tasks')
    page.on('request', (request) => asked.push(request.url()))
    page.on('dialog', (dialog) => void dialog.accept().then(() => asked.push('a dialog')))
    await page.goto(`${app.service.url}/tasks/${task.id}`)
    await panelOf(page).getByText('Load image').waitFor()
    await panelOf(page).getByText('press').click()
    expect(await page.evaluate('window.wasRun')).toBeUndefined()
    expect(asked.filter((url) => !url.startsWith(app.service.url))).toEqual([])
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
    expect(overflow).toBeLessThanOrEqual(0)
    await panelOf(page)
      .getByText(/Read-only because the task was created over the API/)
      .waitFor()
  })

  test('loads a remote image on click, without a referrer', async ({ app }) => {
    const task = await createTask(app, {
      title: 'Pictured',
      description: '![A chart](https://elsewhere.example/chart.svg)',
    })
    const page = await app.open(`/tasks/${task.id}`)
    const asked: (string | undefined)[] = []
    await page.route('https://elsewhere.example/**', (route) => {
      asked.push(route.request().headers().referer)
      return route.fulfill({
        contentType: 'image/svg+xml',
        body: '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>',
      })
    })
    await panelOf(page).getByRole('button', { name: 'Load image “A chart” from elsewhere.example' }).click()
    const picture = panelOf(page).getByRole('img', { name: 'A chart' })
    await expect
      .poll(() => picture.evaluate((node) => (node as unknown as { naturalWidth: number }).naturalWidth))
      .toBe(9)
    expect(asked).toEqual([undefined])
  })

  test('that was deleted is restored from its address', async ({ app }) => {
    const task = await createTask(app, { title: 'Back from the dead' })
    await app.service.delete(`/api/tasks/${task.id}`)
    const page = await app.open(`/tasks/${task.id}`, { isLive: true })
    await page.getByRole('button', { name: 'Restore task' }).click()
    await panelOf(page).getByRole('heading', { name: 'Back from the dead' }).waitFor()
    await rowOf(page, 'Back from the dead').waitFor()
    await expect.poll(() => page.title()).toBe('Back from the dead · Inlet')
  })

  test('with deeply nested text is shown as plain text', async ({ app }) => {
    const task = await createTask(app, { title: 'Very deep', description: `${'>'.repeat(20_000)} the end` })
    const page = await app.open(`/tasks/${task.id}`)
    await panelOf(page).locator('pre', { hasText: 'the end' }).waitFor()
    await panelOf(page).getByText('created the task').waitFor()
  })

  test('is assigned to people', async ({ app }) => {
    const task = await createTask(app, { title: 'For somebody' })
    const page = await app.open(`/tasks/${task.id}`)
    await panelOf(page).getByLabel('Assignees').fill('ada')
    await page.keyboard.press('Enter')
    await expect
      .poll(async () => (await app.service.get(`/api/tasks/${task.id}`)).body.assignees)
      .toEqual(['ada'])
    await panelOf(page).getByText('added ada (assignees)').waitFor()
  })

  test("shows times in the viewer's time zone", async ({ app }) => {
    const { inbox } = await app.service.given.project()
    const createdAt = new Date('2026-03-01T20:30:00Z')
    const task = await app.service.given.task(inbox, { title: 'From another day', createdAt })
    const page = await app.open(`/tasks/${task.id}`, { timezoneId: 'Asia/Tokyo', locale: 'en-GB' })
    await panelOf(page).locator('time').first().hover()
    await panelOf(page).getByTitle('2 Mar 2026, 05:30:00').first().waitFor()
  })

  test('keeps text typed while the notes are being saved', async ({ app }) => {
    const task = await createTask(app, { title: 'Written on' })
    const page = await app.open(`/tasks/${task.id}`)
    await page.getByRole('button', { name: 'Add notes' }).click()
    const notes = page.getByRole('textbox', { name: 'Notes' })
    await notes.fill('one')
    const release = await delayRequests(page, { url: `**/api/tasks/${task.id}`, method: 'PATCH' })
    await notes.press('Control+Enter')
    await notes.fill('one and two')
    release()
    await expect.poll(async () => (await app.service.get(`/api/tasks/${task.id}`)).body.notes).toBe('one')
    await page.getByRole('button', { name: 'Save notes' }).click()
    await notes.waitFor({ state: 'detached' })
    await expect
      .poll(async () => (await app.service.get(`/api/tasks/${task.id}`)).body.notes)
      .toBe('one and two')
  })

  test('edited by two people shows a conflict, even if the page has shown the other change', async ({
    app,
  }) => {
    const task = await createTask(app, { title: 'Contended' })
    const page = await app.open(`/tasks/${task.id}`, { isLive: true })
    await page.getByRole('button', { name: 'Add notes' }).click()
    await page.getByRole('textbox', { name: 'Notes' }).fill('mine')
    await app.service.patch(`/api/tasks/${task.id}`, { notes: 'theirs', title: 'Contended by two' })
    await panelOf(page).getByRole('heading', { name: 'Contended by two' }).waitFor()
    await page.getByRole('button', { name: 'Save notes' }).click()
    const choice = panelOf(page).getByRole('alert')
    await choice.getByText('theirs', { exact: true }).waitFor()
    // A failed save keeps the conflict.
    await page.route(`**/api/tasks/${task.id}`, (route) => route.abort())
    await choice.getByRole('button', { name: 'Keep mine' }).click()
    await page.getByText("Not saved: Inlet can't be reached").waitFor()
    await page.unroute(`**/api/tasks/${task.id}`)
    await choice.getByRole('button', { name: 'Keep mine' }).click()
    await choice.waitFor({ state: 'detached' })
    await page.getByRole('textbox', { name: 'Notes' }).waitFor({ state: 'detached' })
    await expect.poll(async () => (await app.service.get(`/api/tasks/${task.id}`)).body.notes).toBe('mine')
  })

  test('with a draft shows a conflict after a reload', async ({ app }) => {
    const task = await createTask(app, { title: 'Left for a while' })
    const page = await app.open(`/tasks/${task.id}`)
    await page.getByRole('button', { name: 'Add notes' }).click()
    await page.getByRole('textbox', { name: 'Notes' }).fill('mine')
    await app.service.patch(`/api/tasks/${task.id}`, { notes: 'theirs', title: 'Changed meanwhile' })
    await page.reload()
    await panelOf(page).getByRole('heading', { name: 'Changed meanwhile' }).waitFor()
    await page.getByRole('button', { name: 'Save notes' }).click()
    const choice = panelOf(page).getByRole('alert')
    await choice.getByRole('button', { name: 'Keep theirs' }).click()
    await panelOf(page).getByRole('region', { name: 'Notes' }).getByText('theirs').waitFor()
    await expect.poll(async () => (await app.service.get(`/api/tasks/${task.id}`)).body.notes).toBe('theirs')
  })

  test('is saved without a conflict when only other fields changed', async ({ app }) => {
    const task = await createTask(app, { title: 'Shared peacefully' })
    const page = await app.open(`/tasks/${task.id}`)
    await page.getByRole('button', { name: 'Add notes' }).click()
    await page.getByRole('textbox', { name: 'Notes' }).fill('mine')
    await app.service.patch(`/api/tasks/${task.id}`, { priority: 'high' })
    await page.getByRole('button', { name: 'Save notes' }).click()
    await page.getByRole('textbox', { name: 'Notes' }).waitFor({ state: 'detached' })
    const { body: saved } = await app.service.get(`/api/tasks/${task.id}`)
    expect([saved.notes, saved.priority]).toEqual(['mine', 'high'])
  })

  test('keeps the draft when the session ends', async ({ app }) => {
    const task = await createTask(app, { title: 'Half written' })
    const page = await app.open(`/tasks/${task.id}`)
    await page.getByRole('button', { name: 'Add notes' }).click()
    await page.getByRole('textbox', { name: 'Notes' }).fill('a long thought')
    await app.service.query('DELETE FROM sessions')
    await page.context().clearCookies()
    // Not a click of the mouse: the dialog may be over the page before it, for the stream notices as well.
    await page.getByRole('button', { name: 'Save notes' }).dispatchEvent('click')
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
    await dialog.getByLabel('API key').fill(app.service.adminKey)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.locator('textarea[aria-label="Notes"]:focus').waitFor()
    await expect.poll(() => page.getByRole('textbox', { name: 'Notes' }).inputValue()).toBe('a long thought')
    await page.getByRole('button', { name: 'Save notes' }).click()
    await expect
      .poll(async () => (await app.service.get(`/api/tasks/${task.id}`)).body.notes)
      .toBe('a long thought')
  })
})

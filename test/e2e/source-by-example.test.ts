import { describe, expect } from 'vitest'
import { startApp } from '../support/app.ts'
import { sourceOf } from '../support/sources.ts'
import type { Page } from '../tools/playwright.ts'
import { type AppInBrowser, collectErrors, testWith, violationsOn } from './support/browser.ts'
import { press } from './support/keys.ts'
import { faultsOf } from './support/looks.ts'

const test = testWith(() =>
  startApp({ env: { ENCRYPTION_KEY: 'ab'.repeat(32), WEBHOOK_SECRET: 'ab'.repeat(16) } }),
)

/** What no preset knows. */
const INCIDENT = {
  kind: 'incident.batch',
  incidents: [
    {
      ref: { 'incident no.': 4711 },
      headline: 'Turbine <b>7</b> stopped',
      grade: 'CRITICAL',
      phase: 'firing',
      notes: 'Bearing at 98 °C.',
      page: 'https://plant.example.com/incidents/4711',
      areas: [{ name: 'hall 2' }, { name: 'line "A"' }],
    },
    { ref: { 'incident no.': 4712 }, headline: 'Filter clogged', grade: 'minor', phase: 'firing', areas: [] },
  ],
}

/** What an expert would write for it. */
const WRITTEN = {
  each: 'payload.incidents',
  filter: 'payload.kind == "incident.batch"',
  template: {
    title: '{{ item.headline }}',
    description: '{{ item.notes }}',
    priority:
      '{% case item.grade %}{% when "CRITICAL" %}high{% when "minor" %}low{% else %}medium{% endcase %}',
    labels: '{{ item.areas | map: "name" | join: "," }}',
    externalId: '{{ item.ref["incident no."] }}',
    externalUrl: '{{ item.page }}',
    status: '{% if item.phase == "resolved" %}done{% else %}open{% endif %}',
  },
}

const rowOf = (page: Page, text: string) => page.getByRole('tree').getByText(text, { exact: true }).first()
const fieldsOf = (page: Page) => page.getByRole('list', { name: 'Fields' })
const previewOf = (page: Page) => page.getByRole('region', { name: 'Preview' })
const templateField = (page: Page, name: string) => page.getByRole('textbox', { name })

async function choose(page: Page, value: string, ...items: string[]) {
  for (const name of items) {
    await rowOf(page, value).click()
    await page.getByRole('menuitem', { name }).click()
    await page.getByRole('menu').waitFor({ state: 'detached' })
  }
}

/** Pastes into the focused field. */
async function paste(page: Page, text: string) {
  await page.evaluate('document.activeElement.dispatchEvent(new ClipboardEvent("paste", { bubbles: true }))')
  await page.keyboard.insertText(text)
}

async function created(page: Page, name: string) {
  const dialog = page.getByRole('dialog', { name: `Secret of “${name}”` })
  await dialog.locator('pre').first().waitFor()
  const [url = '', secret = ''] = await dialog.locator('pre').allInnerTexts()
  await dialog.getByRole('button', { name: "I've stored it" }).click()
  return { url, secret }
}

/** Counts what a person does. */
const COUNT_INPUTS = `
  window.inputs = { click: 0, keydown: 0 }
  for (const type of Object.keys(inputs))
    addEventListener(type, ({ isTrusted }) => isTrusted && inputs[type]++, { capture: true })`

const sourceNamed = async ({ service }: AppInBrowser, name: string) =>
  (await service.get('/api/sources')).body.data.find((source: { name: string }) => source.name === name)

describe('a source by example', () => {
  test('of a payload never seen before is made by clicks, and makes the tasks as shown', async ({ app }) => {
    const { service } = app
    // It has arrived at another door, where nothing could be done with it.
    const { source: other, send } = await sourceOf(service, {
      name: 'Plant',
      template: { title: '{{ payload.x }}' },
    })
    await send(INCIDENT)
    const page = await app.open('/settings/sources?source=new')
    const errors = collectErrors(page)
    await page.evaluate(COUNT_INPUTS)
    const start = performance.now()
    await page.getByRole('combobox', { name: 'Recent deliveries' }).click()
    await page.getByRole('option', { name: /^Plant, rejected/ }).click()
    await choose(page, '"incident.batch"', 'Only if this is “incident.batch”')
    await choose(page, '"Turbine <b>7</b> stopped"', 'A task for each of payload.incidents', 'Title')
    await choose(page, '"Bearing at 98 °C."', 'Description')
    await choose(page, '"CRITICAL"', 'Priority')
    await choose(page, '"hall 2"', 'Labels')
    await choose(page, '4711', 'External ID')
    await choose(page, '"https://plant.example.com/incidents/4711"', 'External URL')
    await choose(page, '"firing"', 'Status')

    const fields = fieldsOf(page)
    await fields.getByText('item.ref["incident no."]', { exact: true }).waitFor()
    await fields.getByText('item.areas[].name', { exact: true }).waitFor()
    const task = previewOf(page).getByRole('article', { name: 'Turbine <b>7</b> stopped' })
    for (const text of ['high', 'open', 'hall 2', 'line "A"', 'Bearing at 98 °C.']) {
      await task.getByText(text, { exact: true }).waitFor()
    }
    await previewOf(page).getByRole('article', { name: 'Filter clogged' }).getByText('low').waitFor()
    await page.getByRole('textbox', { name: 'Name' }).click()
    await page.keyboard.type('Turbines')
    await page.getByRole('button', { name: 'Create source' }).click()
    await page.getByRole('dialog', { name: 'Secret of “Turbines”' }).waitFor()
    expect(performance.now() - start).toBeLessThan(60_000)
    // Each click of a person takes about two seconds, and the name is all that is typed.
    expect(await page.evaluate('window.inputs')).toEqual({ click: 22, keydown: 'Turbines'.length })
    const { url, secret } = await created(page, 'Turbines')
    expect(await sourceNamed(app, 'Turbines')).toMatchObject(WRITTEN)
    expect(url).not.toBe(other.url)

    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(INCIDENT),
    })
    expect(response.status).toBe(201)
    const { tasks } = (await response.json()) as { tasks: { taskId: string }[] }
    const [first, second] = await Promise.all(
      tasks.map(async ({ taskId }) => (await service.get(`/api/tasks/${taskId}`)).body),
    )
    expect(first).toMatchObject({
      ...{
        title: 'Turbine <b>7</b> stopped',
        description: 'Bearing at 98 °C.',
        priority: 'high',
        status: 'open',
      },
      ...{ labels: ['hall 2', 'line "A"'], externalId: '4711', externalUrl: INCIDENT.incidents[0]?.page },
    })
    expect(second).toMatchObject({ title: 'Filter clogged', priority: 'low', labels: [] })
    expect(errors).toEqual([])
  })

  test('is in step with its Liquid, both ways, and changes which words stand for what', async ({ app }) => {
    const page = await app.open('/settings/sources?source=new')
    const payload = { title: 'Export fails', level: 'odd', html: '<img src=x onerror=alert(1)>' }
    await page.getByRole('textbox', { name: 'Payload' }).fill(JSON.stringify(payload))
    await page.getByText('Advanced').click()
    await choose(page, '"odd"', 'Priority')
    const priority = templateField(page, 'Priority')
    await expect.poll(() => priority.inputValue()).toBe('{% if payload.level == "odd" %}medium{% endif %}')
    const words = page.getByRole('combobox', { name: 'Priority “high” if it is' })
    await words.fill('odd')
    await page.keyboard.press('Enter')
    await words.fill('fatal')
    await page.keyboard.press('Enter')
    await expect
      .poll(() => priority.inputValue())
      .toBe('{% case payload.level %}{% when "odd", "fatal" %}high{% endcase %}')
    await page.getByRole('combobox', { name: 'Otherwise' }).click()
    await page.getByRole('option', { name: 'low', exact: true }).click()
    await expect.poll(() => priority.inputValue()).toContain('{% else %}low{% endcase %}')
    await previewOf(page).getByText('high', { exact: true }).waitFor()
    expect(await violationsOn(page)).toEqual([])

    const fields = fieldsOf(page)
    const title = templateField(page, 'Title')
    await fields.getByText('payload.title', { exact: true }).waitFor()
    await title.fill('{{ payload.title | upcase }}')
    await fields.getByText('Custom template').waitFor()
    await previewOf(page).getByRole('article', { name: 'EXPORT FAILS' }).waitFor()
    await title.fill('{{ payload["html"] }}')
    await fields.getByText('payload.html', { exact: true }).waitFor()
    await previewOf(page).getByRole('article', { name: payload.html }).waitFor()
    await title.fill('{{ payload.title | nothing }}')
    await fields.getByText('undefined filter: nothing').waitFor()
    await fields.getByRole('button', { name: 'Remove Custom template (Title)' }).click()
    await expect.poll(() => title.inputValue()).toBe('')
    await choose(page, '"Export fails"', 'Title')
    await expect.poll(() => title.inputValue()).toBe('{{ payload.title }}')
  })

  test('keeps what was chosen and pasted over Back and a reload', async ({ app }) => {
    const page = await app.open('/settings/sources')
    await page.getByRole('button', { name: 'Add a source' }).first().click()
    await page.getByRole('textbox', { name: 'Payload' }).focus()
    await paste(page, '{"subject": "Kept"}')
    await choose(page, '"Kept"', 'Title')
    await previewOf(page).getByRole('article', { name: 'Kept' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Sources', level: 1 }).waitFor()
    await page.goForward()
    await fieldsOf(page).getByText('payload.subject', { exact: true }).waitFor()
    await page.reload()
    await previewOf(page).getByRole('article', { name: 'Kept' }).waitFor()
  })

  test('begins with a delivery that a link names, and with the example of a preset', async ({ app }) => {
    const { send } = await sourceOf(app.service, { name: 'Plant' })
    const { deliveryId } = (await send({ title: 'From the link' })).body
    const page = await app.open(`/settings/sources?source=new&delivery=${deliveryId}`)
    await rowOf(page, '"From the link"').waitFor()
    await previewOf(page).getByRole('article', { name: 'From the link' }).waitFor()
    await page.goto(`${app.service.url}/settings/sources?source=new&delivery=${crypto.randomUUID()}`)
    await page.getByText("This delivery's payload is not stored").waitFor()
    await page.getByRole('combobox', { name: 'Start from' }).click()
    await page.getByRole('option', { name: 'GitLab issues' }).click()
    const fields = fieldsOf(page)
    await fields.getByText('payload.object_attributes.state', { exact: true }).waitFor()
    await fields.getByText('payload.labels[].title', { exact: true }).waitFor()
    await previewOf(page).getByRole('article', { name: 'Export fails' }).getByText('bug').waitFor()
    await fields.getByRole('button', { name: /^Remove payload.object_attributes.url/ }).click()
    await choose(page, '"opened"', 'External ID')
    await fields.getByText('payload.object_attributes.state', { exact: true }).nth(1).waitFor()
  })

  test('is made with the keyboard alone', async ({ app }) => {
    const page = await app.open('/settings/sources?source=new')
    await page.getByRole('textbox', { name: 'Payload' }).focus()
    await paste(page, '{"a": {"b": ["x"]}, "headline": "By keys", "grade": "low"}')
    const row = page.locator('[role=treeitem]:focus')
    const focused = async () => (await row.allTextContents()).join()
    // A key that is pressed before the menu has the focus is for the row.
    const menuItem = page.locator('[role=menuitem]:focus').filter({ hasText: 'Title' })
    await expect.poll(focused).toContain('payload')
    await press(page, 'End', 'ArrowUp', 'Enter')
    await menuItem.waitFor()
    await press(page, 'Enter')
    await fieldsOf(page).getByText('payload.headline', { exact: true }).waitFor()
    await expect.poll(focused).toContain('"By keys"')
    await press(page, 'ArrowDown', ' ')
    await menuItem.waitFor()
    await press(page, 'ArrowDown', 'ArrowDown', 'Enter')
    await fieldsOf(page).getByText('payload.grade', { exact: true }).waitFor()
    await press(page, 'Home', 'ArrowDown', 'ArrowLeft')
    await expect.poll(() => rowOf(page, 'b').count()).toBe(0)
    await press(page, 'ArrowRight', 'ArrowRight', 'Enter')
    await menuItem.waitFor()
    await press(page, 'Escape')
    await page.getByRole('menu').waitFor({ state: 'detached' })
    await expect.poll(focused).toContain('1 item')
    await press(page, 'Shift+Tab', 'Tab')
    await expect.poll(focused).toContain('1 item')
    await previewOf(page).getByRole('article', { name: 'By keys' }).getByText('low').waitFor()
  })

  test('stays small with a payload of almost 1 MiB', async ({ app }) => {
    const page = await app.open('/settings/sources?source=new')
    const rows = Array.from({ length: 3_500 }, (_, id) => ({ id, text: 'x'.repeat(240), deep: { id } }))
    await page.getByRole('textbox', { name: 'Payload' }).focus()
    await paste(page, JSON.stringify({ title: 'Large', rows }))
    await choose(page, '"Large"', 'Title')
    const elements = () => page.evaluate('document.querySelectorAll("*").length') as Promise<number>
    const before = await elements()
    await rowOf(page, 'rows').click()
    await page.getByText('Show more (3,400 left)').click()
    await page.getByText('Show more (3,300 left)').waitFor()
    expect((await elements()) - before).toBeLessThan(200 * 8)
    await previewOf(page).getByRole('article', { name: 'Large' }).waitFor()
    await rowOf(page, '199').click()
    await choose(page, `"${'x'.repeat(200)}…"`, 'Description')
    await fieldsOf(page).getByText('payload.rows[199].text', { exact: true }).waitFor()
  })

  test('fits a phone', async ({ app }) => {
    const options = { viewport: { width: 390, height: 844 }, hasTouch: true }
    const page = await app.open('/settings/sources?source=new&preset=alertmanager_alerts', options)
    await rowOf(page, '"warning"').tap()
    await page.getByRole('menuitem', { name: 'External ID' }).tap()
    await fieldsOf(page).getByText('item.labels.severity', { exact: true }).nth(1).waitFor()
    await page.getByText('Advanced').tap()
    await templateField(page, 'Title').waitFor()
    expect(await faultsOf(page, { target: 44, within: 'main' })).toEqual([])
  })
})

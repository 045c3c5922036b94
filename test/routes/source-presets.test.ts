import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SourcePreset } from '../../src/schemas/source-preset.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { feedback, sender } from '../support/feedback.ts'
import { sourceOf } from '../support/sources.ts'

/*
 * Each preset with what its sender really sent, verified as that sender signs. test/support/recorded/README.md says
 * where the payloads are from.
 */

const SECRET = 'secret-of-the-environment'
let service: TestApp
let presets: SourcePreset[]
beforeAll(async () => {
  service = await startApp({ env: { ENCRYPTION_KEY: 'ab'.repeat(32), WEBHOOK_SECRET: SECRET } })
  presets = (await service.get('/api/source-presets')).body.data
})
afterAll(() => service.close())

const recorded = (name: string) =>
  JSON.parse(readFileSync(new URL(`../support/recorded/sources/${name}.json`, import.meta.url), 'utf8'))

async function sourceWith(id: string) {
  const preset = presets.find((preset) => preset.id === id)
  if (!preset) throw new Error(`There is no preset ${id}.`)
  const { id: _id, description, secretFrom, example, ...given } = preset
  return sourceOf(service, given)
}

async function taskOf(id: string) {
  const { status, body } = await service.get(`/api/tasks/${id}`)
  expect(status).toBe(200)
  return body
}

/** Sends recorded payloads; returns the first task after each. */
async function tasksAfter(preset: string, ...names: string[]) {
  const { send } = await sourceWith(preset)
  const tasks = []
  for (const name of names) {
    const { status, body } = await send(recorded(name))
    expect([name, status < 300, body.errors]).toEqual([name, true, undefined])
    tasks.push(await taskOf(body.taskId))
  }
  return tasks
}

describe('the preset', () => {
  test('Sentry issue alerts makes a task of an issue, and reopens it', async () => {
    const { source, send } = await sourceWith('sentry_issue_alerts')
    const alert = recorded('sentry-issue-alert')
    const { taskId } = (await send(alert)).body
    const task = await taskOf(taskId)
    expect(task).toMatchObject({
      title: 'Error: Sample error from node.',
      priority: 'medium',
      labels: ['sentry', 'error'],
      externalId: '1638852747',
      externalUrl: alert.data.event.web_url,
      sourceId: source.id,
    })
    expect(task.description).toContain('| Alert | Send a webhook payload to Webhook.site |')
    await service.patch(`/api/tasks/${taskId}`, { status: 'done' })
    const event = { ...alert.data.event, event_id: '0f0b0a5d3e7c4f0aa5c7d7f1b1f4e5a6' }
    expect((await send({ ...alert, data: { ...alert.data, event } })).status).toBe(200)
    expect((await taskOf(taskId)).status).toBe('open')
  })

  test('GitLab issues completes and reopens the task of an issue', async () => {
    const steps = ['gitlab-issue-reopened', 'gitlab-issue-closed', 'gitlab-issue-reopened']
    const [opened, closed, reopened] = await tasksAfter('gitlab_issues', ...steps)
    expect(closed).toMatchObject({
      title: 'Issue title_new',
      description: 'Issue description',
      status: 'done',
      externalId: '2788274',
      externalUrl: 'https://gitlab.com/tomaszkolek0/my-awesome-project/issues/1',
    })
    expect(reopened).toMatchObject({ id: opened.id, status: 'open' })
    expect(closed.id).toBe(opened.id)
  })

  test('GitLab issues removes the description and the labels that an issue has lost', async () => {
    const { object_attributes: attributes, ...rest } = recorded('gitlab-issue-reopened')
    const { send } = await sourceWith('gitlab_issues')
    const labels = [{ id: 206, title: 'bug' }]
    const { taskId } = (await send({ ...rest, object_attributes: attributes, labels })).body
    expect(await taskOf(taskId)).toMatchObject({ description: 'Issue description', labels: ['bug'] })
    const emptied = { ...attributes, action: 'update', description: null }
    await send({ ...rest, object_attributes: emptied, labels: [] })
    expect(await taskOf(taskId)).toMatchObject({ description: null, labels: [], title: attributes.title })
  })

  test.each(['incident', 'task'])(
    'GitLab issues makes a task of what GitLab calls a work item: %s',
    async (type) => {
      const { object_attributes: attributes, ...rest } = recorded('gitlab-issue-reopened')
      const { send } = await sourceWith('gitlab_issues')
      const item = { ...rest, object_kind: 'work_item', object_attributes: { ...attributes, type } }
      const { status, body } = await send(item)
      expect([status, (await taskOf(body.taskId)).title]).toEqual([201, attributes.title])
      const ignored = await send({ ...rest, object_kind: 'note', object_attributes: attributes })
      expect(ignored.body).toEqual({ accepted: false, reason: 'filtered' })
    },
  )

  test('Grafana alerts leaves out links to what an alert has none of', async () => {
    const { send } = await sourceWith('grafana_alerts')
    const { description } = await taskOf((await send(recorded('grafana-firing'))).body.taskId)
    expect(description).toContain('[Silence](https://grafana.example.com/')
    expect(description).not.toContain('[Dashboard]')
    expect(description).not.toContain('``')
  })

  test('Grafana alerts completes the task of a resolved alert', async () => {
    const names = ['grafana-firing', 'grafana-resolved']
    const [firing, resolved] = await tasksAfter('grafana_alerts', ...names)
    expect(firing).toMatchObject({
      title: 'This is a summary field, failure on some_host',
      status: 'open',
      labels: ['alert'],
      externalId: 'd8a21484c9c25a60',
      externalUrl: 'https://grafana.example.com/alerting/grafana/zTjxv_C7k/view',
    })
    expect(firing.description).toContain('| alertname | Test alert |')
    expect(resolved).toMatchObject({ id: firing.id, status: 'done' })
  })

  test('Prometheus Alertmanager alerts makes a task of each alert, which follows it', async () => {
    const { send } = await sourceWith('alertmanager_alerts')
    const { body } = await send(recorded('alertmanager-two-firing'))
    expect(body.tasks.map(({ created }: { created: boolean }) => created)).toEqual([true, true])
    expect(await taskOf(body.taskId)).toMatchObject({
      title: 'High CPU core temperature (andromeda)',
      priority: 'high',
      labels: ['alert', 'critical'],
      description: expect.stringContaining('CPU core temperature is 34.75C'),
    })
    const steps = ['alertmanager-firing', 'alertmanager-resolved']
    const [firing, resolved] = await tasksAfter('alertmanager_alerts', ...steps)
    expect([firing.status, resolved.status, firing.id === resolved.id]).toEqual(['open', 'done', true])
    expect(firing.title).toContain('(127.0.0.1:8080)')
  })

  test.each([
    ['grafana_alerts', 'grafana-resolved', 'grafana-firing'],
    ['alertmanager_alerts', 'alertmanager-resolved', 'alertmanager-firing'],
    ['gitlab_issues', 'gitlab-issue-closed', 'gitlab-issue-reopened'],
  ])('%s makes no task of what is over when it is first heard of', async (preset, over, open) => {
    const { source, send } = await sourceWith(preset)
    const { status, body } = await send(recorded(over))
    expect([status, body]).toEqual([200, { accepted: false, reason: 'filtered' }])
    const [event] = (await service.get(`/api/deliveries?sourceId=${source.id}`)).body.data
    expect(event).toMatchObject({ outcome: 'filtered', tasks: [], errors: [{ code: 'never_opened' }] })
    expect((await send(recorded(open))).status).toBe(201)
    const completed = await send(recorded(over))
    expect([completed.status, (await taskOf(completed.body.taskId)).status]).toEqual([200, 'done'])
  })

  test('an alert that fires again reopens its task', async () => {
    const { send } = await sourceWith('grafana_alerts')
    const [firing, resolved] = [recorded('grafana-firing'), recorded('grafana-resolved')]
    const { taskId } = (await send(firing)).body
    await send(resolved)
    await send(firing, { headers: { 'idempotency-key': 'fires-again' } })
    expect((await taskOf(taskId)).status).toBe('open')
  })

  test('PostHog surveys makes a task of a response', async () => {
    const [task] = await tasksAfter('posthog_surveys', 'posthog-survey-sent')
    expect(task).toMatchObject({
      title: 'Survey: 9',
      labels: ['survey'],
      externalId: 'a74ebf50-d3ee-485d-bb71-d18e65712fae',
      externalUrl: 'https://us.posthog.com/person/965a371a-a1a5-4881-8b95-9747d1b0d4ac',
    })
    expect(task.description).toContain('**How likely are you to recommend us to a friend?**\n\n9')
    expect(task.description).not.toContain('max@posthog.com')
    const { send } = await sourceWith('posthog_surveys')
    const other = { ...recorded('posthog-survey-sent'), event: { event: '$pageview', properties: {} } }
    expect((await send(other)).body).toEqual({ accepted: false, reason: 'filtered' })
  })

  test('PostHog surveys reads the answers of earlier SDKs by the position of the question', async () => {
    const { event, ...rest } = recorded('posthog-survey-sent')
    const properties = {
      $survey_name: 'NPS',
      $survey_questions: ['How likely are you to recommend us?', 'Why?'],
      $survey_response: 9,
      $survey_response_1: ['Fast', 'Cheap'],
    }
    const { send } = await sourceWith('posthog_surveys')
    const { taskId } = (await send({ ...rest, event: { ...event, properties } })).body
    const { title, description } = await taskOf(taskId)
    expect(title).toBe('NPS: 9')
    expect(description).toContain('**How likely are you to recommend us?**\n\n9\n\n**Why?**\n\nFast, Cheap')
  })

  test('Formbricks responses makes a task of a finished response', async () => {
    const [task] = await tasksAfter('formbricks_responses', 'formbricks-response-finished')
    expect(task).toMatchObject({
      title: "Survey: Energy & Vitality, Men's Health",
      externalId: 'cmh14h0az0no8ad0163nsndjm',
      externalUrl: null,
    })
    expect(task.description).toContain('**iht7n48iwkoc1jc8ubnzrqi7**\n\n3')
    const [newer] = await tasksAfter('formbricks_responses', 'formbricks-response-documented')
    expect(newer).toMatchObject({
      title: 'Customer Satisfaction Survey: clicked',
      externalId: 'responseId',
      externalUrl: 'https://app.formbricks.com/s/surveyId',
    })
    expect(newer.description).toContain('**q2**\n\naccepted')
  })

  test('Formbricks responses shows the answers to a matrix, a list, and a number', async () => {
    const { data, ...rest } = recorded('formbricks-response-finished')
    const responses = {
      q1: { Speed: 'Good', Price: 'Bad' },
      q2: ['Fast', 'Cheap'],
      q3: 9,
      q4: '',
      q5: 'Text',
    }
    const { send } = await sourceWith('formbricks_responses')
    const { taskId } = (await send({ ...rest, data: { ...data, id: 'matrix', data: responses } })).body
    const { title, description } = await taskOf(taskId)
    expect(title).toContain(': Speed: Good, Price: Bad')
    for (const shown of ['Speed: Good, Price: Bad', 'Fast, Cheap', '9', '(no answer)', 'Text']) {
      expect(description).toContain(`**\n\n${shown}`)
    }
  })

  test('Formbricks responses makes none of an unfinished response, or of a test of the endpoint', async () => {
    const { send } = await sourceWith('formbricks_responses')
    for (const payload of [recorded('formbricks-response-created'), { event: 'testEndpoint' }]) {
      const { status, body } = await send(payload)
      expect([status, body]).toEqual([200, { accepted: false, reason: 'filtered' }])
    }
  })

  test.each(['flat', 'nested'])(
    'PostHog feedback makes the tasks of the feedback receiver: %s',
    async (form) => {
      const event = feedback({ note: 'The export button does nothing.', user_email: 'ada@example.com' })
      const sent = form === 'flat' ? event : { event, person: { id: 'user-1' } }
      const { send } = await sourceWith('posthog_feedback')
      const { taskId } = (await send(sent)).body
      expect(await taskOf(taskId)).toMatchObject({
        title: 'The export button does nothing.',
        source: 'analytics',
        metadata: { distinctId: 'user-1', properties: event.properties },
      })
      const received = await sender(service.url, SECRET)(sent)
      expect([received.status, received.body.taskId]).toEqual([200, taskId])
    },
  )
})

test('each preset has a page in the guide', () => {
  const read = (path: string) => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8')
  const guide = read('sources.md')
  expect(presets).toHaveLength(7)
  for (const { id, name } of presets) {
    const path = `sources/${id.replaceAll('_', '-')}.md`
    expect(guide).toContain(`- [${name}](${path})\n`)
    expect(read(path)).toMatch(`# ${name}\n`)
  }
})

test('the example of each preset makes a task', async () => {
  for (const { mapping, each, filter, template, clears, example } of presets) {
    const source = mapping === 'feedback' ? { mapping } : { mapping, each, filter, template, clears }
    const { body } = await service.post('/api/sources/test', { source, payload: example })
    expect(body).toMatchObject({ outcome: 'accepted', errors: [], tasks: [{ item: 0 }] })
  }
})

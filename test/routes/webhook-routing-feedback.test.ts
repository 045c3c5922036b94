import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { TestApp } from '../support/app.ts'
import { feedback, type sender, startReceiver } from '../support/feedback.ts'
import { UUID } from '../support/patterns.ts'

let service: TestApp
let send: ReturnType<typeof sender>
let target: { id: string; name: string }
beforeAll(async () => {
  ;({ service, send } = await startReceiver())
  target = (await service.post('/api/projects', { name: 'Mobile' })).body
})
beforeEach(() => service.query('delete from webhook_routing'))
afterAll(() => service.close())

const make = (values: object, options = {}) =>
  service.post('/api/webhook-routing', { targetProjectId: target.id, ...values }, options)
const dryRun = (event: unknown) => service.post('/api/webhook-routing/test', event)

describe('feedback', () => {
  test('goes where a rule targets, and the activity names the rule', async () => {
    const rule = (await make({ name: 'Shop', projectMatch: 'SHOP', appMatch: 'com.shop' })).body

    const { body } = await send(feedback({ project_name: 'shop', bundle_id: 'COM.SHOP' }))

    expect(body).toMatchObject({ projectId: target.id, routing: { ruleId: rule.id, matchedOn: 'both' } })
    const { data } = (await service.get(`/api/activity?taskId=${body.taskId}&type=feedback.received`)).body
    expect(data).toMatchObject([{ metadata: { ruleId: rule.id, ruleName: 'Shop', matchedOn: 'both' } }])
    expect((await service.get(`/api/deliveries/${body.deliveryId}`)).body.routing).toEqual({
      ruleId: rule.id,
      ruleName: 'Shop',
      matchedOn: 'both',
      explanation: 'Rule "Shop" matches the project and the app. Routed to "Mobile".',
    })
  })

  test('whose rule targets an archived project falls through', async () => {
    const archived = (await service.post('/api/projects', { name: 'Soon archived' })).body
    await make({ name: 'Dead', appMatch: 'com.shop', targetProjectId: archived.id })
    await service.post(`/api/projects/${archived.id}/archive`)

    const { body } = await send(feedback({ app_id: 'com.shop', project_id: archived.id }))

    expect(body.routing).toEqual({ ruleId: null, matchedOn: 'default' })
    expect((await service.get(`/api/deliveries/${body.deliveryId}`)).body.routing.explanation).toBe(
      'Rule "Dead" matches the app, but its project "Soon archived" is archived. The project "Soon archived" that the event names is archived. Routed to the default project "Inbox".',
    )
  })

  test('that names an existing project goes there', async () => {
    for (const properties of [
      { project_id: target.id.toUpperCase() },
      { project_id: 'mobile' },
      { project_name: 'MOBILE' },
    ]) {
      const { body } = await send(feedback(properties))
      expect(body).toMatchObject({
        projectId: target.id,
        routing: { ruleId: null, matchedOn: 'project_name' },
      })
    }
  })

  test('that names an existing project goes there, however its letters are composed', async () => {
    const composed = await service.given.project()
    await service.patch(`/api/projects/${composed.id}`, { name: 'Caf\u00e9' })
    const decomposed = await service.given.project()
    await service.patch(`/api/projects/${decomposed.id}`, { name: 'Cre\u0301che' })
    const mixed = await service.given.project()
    await service.patch(`/api/projects/${mixed.id}`, { name: 'Cre\u0301che du caf\u00e9' })

    expect((await send(feedback({ project_name: 'cafe\u0301' }))).body.projectId).toBe(composed.id)
    expect((await send(feedback({ project_name: 'Cr\u00e9che' }))).body.projectId).toBe(decomposed.id)
    for (const project_name of ['cr\u00e9che du caf\u00e9', 'Cre\u0301che du cafe\u0301'])
      expect((await send(feedback({ project_name }))).body.projectId).toBe(mixed.id)
  })

  test('by a rule without a name shows what the rule matches', async () => {
    const project = await service.given.project()
    const { body: rule } = await make({
      projectMatch: 'Nameless',
      appMatch: 'com.nameless',
      targetProjectId: project.id,
    })
    await make({ appMatch: 'com.nameless', targetProjectId: project.id })
    const event = feedback({ app_id: 'com.nameless', project_name: 'nameless' })
    const words = 'project "Nameless" and app "com.nameless"'
    const trial = (await service.post('/api/webhook-routing/test', event)).body
    expect(trial.ruleId).toBe(rule.id)
    expect(trial.explanation).toContain(`The rule for ${words} matches the project and the app`)
    expect(trial.explanation).toContain('The rule for app "com.nameless" matches the app, but')

    const { deliveryId, taskId } = (await send(event)).body
    const { data } = (await service.get(`/api/activity?taskId=${taskId}&type=feedback.received`)).body
    expect(data).toMatchObject([{ metadata: { ruleId: rule.id, ruleName: words } }])
    const deliveries = (await service.get('/api/deliveries?receiver=feedback')).body.data
    expect(deliveries.find(({ id }: { id: string }) => id === deliveryId).routing.ruleName).toBe(words)
  })

  test('that names a project by a shared name reports it, and is routed to the oldest', async () => {
    const older = await service.given.project({ name: 'Twin' })
    const younger = await service.given.project({ name: 'TWIN' })
    const event = feedback({ project_name: 'twin' })
    const trial = (await service.post('/api/webhook-routing/test', event)).body
    expect(trial).toMatchObject({ projectId: older.id, matchedOn: 'project_name' })
    expect(trial.explanation).toContain('Two projects have this name; the older one is used.')
    const { deliveryId } = (await send(event)).body
    const deliveries = (await service.get('/api/deliveries?receiver=feedback')).body.data
    expect(deliveries.find(({ id }: { id: string }) => id === deliveryId).routing.explanation).toContain(
      'Two projects',
    )

    const byId = feedback({ project_id: younger.id, project_name: 'twin' })
    const named = (await service.post('/api/webhook-routing/test', byId)).body
    expect([named.projectId, named.explanation.includes('this name')]).toEqual([younger.id, false])
  })

  test('skips a rule whose project is deleted', async () => {
    const gone = (await service.post('/api/projects', { name: 'Gone' })).body
    await make({ appMatch: 'com.gone', targetProjectId: gone.id })
    // No route leaves such a rule behind any more; earlier versions did.
    await service.query('delete from lists where project_id = $1', [gone.id])
    await service.query('delete from projects where id = $1', [gone.id])
    expect((await send(feedback({ app_id: 'com.gone' }))).body.routing).toEqual({
      ruleId: null,
      matchedOn: 'default',
    })
  })
})

describe('a dry run', () => {
  const counts = () =>
    service.query(
      `select (select count(*)::int from tasks) as tasks, (select count(*)::int from lists) as lists,
              (select count(*)::int from deliveries) as events, (select count(*)::int from activity) as activities`,
    )

  test('shows what would happen to an event, and changes nothing', async () => {
    const rule = (await make({ name: 'Shop', appMatch: 'com.shop' })).body
    await make({ name: 'Other', projectMatch: 'other' })
    const before = await counts()

    const { status, body } = await dryRun(feedback({ app_id: 'com.shop', note: 'Hello' }))

    expect(status).toBe(200)
    expect(body).toEqual({
      wouldCreate: true,
      projectId: target.id,
      listName: 'User Feedback',
      ruleId: rule.id,
      matchedOn: 'app',
      explanation:
        'Rule "Shop" matches the app. Routed to "Mobile". Rule "Other" doesn’t match: project_id and project_name aren’t "other".',
      title: 'Hello',
      considered: [
        { ruleId: rule.id, name: 'Shop', outcome: 'won', reason: 'matches the app' },
        {
          ruleId: expect.stringMatching(UUID),
          name: 'Other',
          outcome: 'lost',
          reason: 'doesn’t match: project_id and project_name aren’t "other"',
        },
      ],
    })
    expect(await counts()).toEqual(before)
  })

  test('accepts the event as the receiver does', async () => {
    const unusual = JSON.stringify(feedback({ note: 'n'.repeat(1_000_000) })).replace(
      '"sentiment"',
      '"__proto__":1,"sentiment"',
    )
    expect((await dryRun({ event: feedback() })).body.wouldCreate).toBe(true)
    expect((await dryRun(unusual)).body.wouldCreate).toBe(true)
    expect((await dryRun({ event: 'other' })).body).toMatchObject({
      wouldCreate: false,
      projectId: null,
      matchedOn: null,
    })
    expect((await dryRun({ event: 'feedback_submitted' })).body.errors).toHaveLength(3)
    expect((await dryRun('{')).body.code).toBe('invalid_json')
  })

  test('shows that a repeat would create nothing', async () => {
    const event = feedback()
    const { taskId } = (await send(event)).body
    const { body } = await dryRun(event)
    expect(body).toMatchObject({ wouldCreate: false, explanation: expect.stringContaining(taskId) })
  })
})

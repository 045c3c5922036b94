import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { feedback, sender } from '../support/feedback.ts'
import { TIMESTAMP, UNKNOWN_ID, UUID } from '../support/patterns.ts'

let service: TestApp
let send: ReturnType<typeof sender>
let target: { id: string; name: string }
beforeAll(async () => {
  service = await startApp({ env: { WEBHOOK_SECRET: 'a-secret-of-16-characters' } })
  send = sender(service.url, 'a-secret-of-16-characters')
  target = (await service.post('/api/projects', { name: 'Mobile' })).body
})
beforeEach(() => service.query('delete from webhook_routing'))
afterAll(() => service.close())

const make = (values: object, options = {}) =>
  service.post('/api/webhook-routing', { targetProjectId: target.id, ...values }, options)
const dryRun = (event: unknown) => service.post('/api/webhook-routing/test', event)

/** Names in order; the positions have to be 0, 1, 2, ... */
async function order(): Promise<string[]> {
  const { data } = (await service.get('/api/webhook-routing?limit=200')).body
  expect(data.map(({ position }: { position: number }) => position)).toEqual([...data.keys()])
  return data.map(({ name }: { name: string }) => name)
}

describe('a routing rule', () => {
  test('is created last and active, read, listed, changed and deleted', async () => {
    const made = await make({ name: ' iOS ', appMatch: ' com.shop ' })

    expect(made.status).toBe(201)
    expect(made.body).toEqual({
      id: expect.stringMatching(UUID),
      name: 'iOS',
      projectMatch: null,
      appMatch: 'com.shop',
      targetProjectId: target.id,
      position: 0,
      isActive: true,
      createdAt: expect.stringMatching(TIMESTAMP),
      updatedAt: expect.stringMatching(TIMESTAMP),
    })
    const path = `/api/webhook-routing/${made.body.id}`
    expect(made.headers.get('location')).toBe(path)
    expect((await service.get(path)).body).toEqual(made.body)
    const changed = await service.patch(path, {
      isActive: false,
      projectMatch: 'shop',
      appMatch: null,
      name: null,
    })
    expect(changed).toMatchObject({
      status: 200,
      body: { isActive: false, projectMatch: 'shop', appMatch: null, name: null, position: 0 },
    })
    expect((await service.get(path)).body).toEqual(changed.body)
    expect((await service.patch(path, {})).body).toEqual(changed.body)
    expect((await service.delete(path)).status).toBe(204)
    expect((await service.delete(path)).body.code).toBe('routing_rule_not_found')
    expect((await service.get(path)).status).toBe(404)
    expect((await service.patch(path, {})).status).toBe(404)
  })

  test.each<[object, string]>([
    [{}, '/projectMatch'],
    [{ appMatch: null, projectMatch: null }, '/projectMatch'],
    [{ appMatch: '' }, '/appMatch'],
    [{ appMatch: '  ' }, '/appMatch'],
    [{ appMatch: 5 }, '/appMatch'],
    [{ appMatch: 'x'.repeat(256) }, '/appMatch'],
    [{ appMatch: 'a', position: -1 }, '/position'],
    [{ appMatch: 'a', position: '1' }, '/position'],
    [{ appMatch: 'a', isActive: 'yes' }, '/isActive'],
    [{ appMatch: 'a', name: 'x'.repeat(101) }, '/name'],
    [{ appMatch: 'a', targetProjectId: 'Mobile' }, '/targetProjectId'],
    [{ appMatch: 'a', targetProjectId: null }, '/targetProjectId'],
    [{ appMatch: 'a', id: UNKNOWN_ID }, '/id'],
  ])('is rejected as %j', async (values, path) => {
    const refused = await make(values)
    expect(refused).toMatchObject({ status: 400, body: { code: 'validation_failed', errors: [{ path }] } })
  })

  test('keeps its match when other members change', async () => {
    const { id } = (await make({ appMatch: 'a' })).body
    const refused = await service.patch(`/api/webhook-routing/${id}`, { appMatch: null })
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: '/projectMatch' }] } })
  })

  test('must target an existing active project', async () => {
    const archived = (await service.post('/api/projects', { name: 'Archived' })).body
    await service.post(`/api/projects/${archived.id}/archive`)
    const { id } = (await make({ appMatch: 'a' })).body
    for (const [targetProjectId, status, code] of [
      [UNKNOWN_ID, 404, 'project_not_found'],
      [archived.id, 409, 'project_archived'],
    ]) {
      expect(await make({ appMatch: 'a', targetProjectId })).toMatchObject({ status, body: { code } })
      const changed = await service.patch(`/api/webhook-routing/${id}`, { targetProjectId })
      expect(changed).toMatchObject({ status, body: { code } })
    }
    expect(await order()).toHaveLength(1)
  })

  test('is created once for one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': randomUUID() }
    const responses = [await make({ appMatch: 'a' }, { headers }), await make({ appMatch: 'a' }, { headers })]
    expect(responses.map(({ status }) => status)).toEqual([201, 201])
    expect(responses[1]?.body).toEqual(responses[0]?.body)
    expect(responses[1]?.headers.get('idempotency-replayed')).toBe('true')
    expect(await order()).toHaveLength(1)
  })
})

describe('the order', () => {
  test('has no gaps, whatever is inserted, moved and deleted', async () => {
    const ids: Record<string, string> = {}
    for (const [name, position] of [['c'], ['a', 0], ['d', 99], ['b', 1]] as const) {
      ids[name] = (await make({ name, appMatch: 'x', ...(position !== undefined && { position }) })).body.id
    }
    expect(await order()).toEqual(['a', 'b', 'c', 'd'])

    expect((await service.patch(`/api/webhook-routing/${ids.d}`, { position: 0 })).body.position).toBe(0)
    expect(await order()).toEqual(['d', 'a', 'b', 'c'])
    expect((await service.patch(`/api/webhook-routing/${ids.a}`, { position: 1_000 })).body.position).toBe(3)
    expect(await order()).toEqual(['d', 'b', 'c', 'a'])
    await service.delete(`/api/webhook-routing/${ids.b}`)
    expect(await order()).toEqual(['d', 'c', 'a'])
  })

  test('has no gaps after concurrent changes, and is read page by page', async () => {
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, n) => make({ name: `r${n}`, appMatch: 'x', position: 0 })),
    )
    expect(made.map(({ status }) => status)).toEqual(Array(12).fill(201))
    await Promise.all(
      made.map(({ body }, n) =>
        n % 3 === 0
          ? service.delete(`/api/webhook-routing/${body.id}`)
          : service.patch(`/api/webhook-routing/${body.id}`, { position: n % 5 }),
      ),
    )
    const all = await order()
    expect(all).toHaveLength(8)

    const pages: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await service.get(`/api/webhook-routing?limit=3${cursor && `&cursor=${cursor}`}`)
      pages.push(...page.body.data.map(({ name }: { name: string }) => name))
      cursor = page.body.nextCursor
    }
    expect(pages).toEqual(all)
  })
})

describe('feedback', () => {
  test('goes where a rule targets, and the activity names the rule', async () => {
    const rule = (await make({ name: 'Shop', projectMatch: 'SHOP', appMatch: 'com.shop' })).body

    const { body } = await send(feedback({ project_name: 'shop', bundle_id: 'COM.SHOP' }))

    expect(body).toMatchObject({ projectId: target.id, routing: { ruleId: rule.id, matchedOn: 'both' } })
    const { data } = (await service.get(`/api/activity?taskId=${body.taskId}&type=feedback.received`)).body
    expect(data).toMatchObject([{ metadata: { ruleId: rule.id, ruleName: 'Shop', matchedOn: 'both' } }])
    expect((await service.get(`/api/analytics/events/${body.eventId}`)).body.routing).toEqual({
      ruleId: rule.id,
      ruleName: 'Shop',
      matchedOn: 'both',
      explanation: 'Rule "Shop" matched on project and app: it leads to "Mobile".',
    })
  })

  test('whose rule targets an archived project falls through', async () => {
    const archived = (await service.post('/api/projects', { name: 'Soon archived' })).body
    await make({ name: 'Dead', appMatch: 'com.shop', targetProjectId: archived.id })
    await service.post(`/api/projects/${archived.id}/archive`)

    const { body } = await send(feedback({ app_id: 'com.shop', project_id: archived.id }))

    expect(body.routing).toEqual({ ruleId: null, matchedOn: 'default' })
    expect((await service.get(`/api/analytics/events/${body.eventId}`)).body.routing.explanation).toBe(
      'Rule "Dead" matched on the app, but its project "Soon archived" is archived. "Soon archived", which the event names, is archived. It goes to the default project "Inbox".',
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
    expect(trial.explanation).toContain(`The rule for ${words} matched on project and app`)
    expect(trial.explanation).toContain('The rule for app "com.nameless" lost:')

    const { eventId, taskId } = (await send(event)).body
    const { data } = (await service.get(`/api/activity?taskId=${taskId}&type=feedback.received`)).body
    expect(data).toMatchObject([{ metadata: { ruleId: rule.id, ruleName: words } }])
    const inbox = (await service.get('/api/analytics/events')).body.data
    expect(inbox.find(({ id }: { id: string }) => id === eventId).routing.ruleName).toBe(words)
  })

  test('that names a project by a shared name reports it, and is routed to the oldest', async () => {
    const older = await service.given.project({ name: 'Twin' })
    const younger = await service.given.project({ name: 'TWIN' })
    const event = feedback({ project_name: 'twin' })
    const trial = (await service.post('/api/webhook-routing/test', event)).body
    expect(trial).toMatchObject({ projectId: older.id, matchedOn: 'project_name' })
    expect(trial.explanation).toContain('Two projects have this name: it goes to the older one.')
    const { eventId } = (await send(event)).body
    const inbox = (await service.get('/api/analytics/events')).body.data
    expect(inbox.find(({ id }: { id: string }) => id === eventId).routing.explanation).toContain(
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
              (select count(*)::int from feedback_events) as events, (select count(*)::int from activity) as activities`,
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
        'Rule "Shop" matched on the app: it leads to "Mobile". "Other" lost: the event’s project_id and project_name are not "other".',
      title: 'Hello',
      considered: [
        { ruleId: rule.id, name: 'Shop', outcome: 'won', reason: 'matched on the app' },
        {
          ruleId: expect.stringMatching(UUID),
          name: 'Other',
          outcome: 'lost',
          reason: 'the event’s project_id and project_name are not "other"',
        },
      ],
    })
    expect(await counts()).toEqual(before)
  })

  test('accepts the event as the receiver does', async () => {
    const unusual = JSON.stringify(feedback({ note: 'n'.repeat(1_500_000) })).replace(
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

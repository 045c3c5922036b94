import { randomUUID } from 'node:crypto'
import type { TestApp } from './app.ts'

/** Fills every column of every exported table of a new instance; returns the ids of what tests look at. */
export async function fillEverything({ query }: Pick<TestApp, 'query'>) {
  const insert = async (table: string, row: Record<string, unknown>) => {
    const names = Object.keys(row)
    const values = names.map((_, index) => `$${index + 1}`)
    await query(`insert into ${table} (${names.join()}) values (${values.join()})`, Object.values(row))
  }
  const project = id(1)
  const list = id(2)
  const at = { created_at: TIME, updated_at: TIME }
  const actor = (prefix: string) => ({
    [`${prefix}_type`]: 'key',
    [`${prefix}_id`]: id(900),
    [`${prefix}_name`]: 'Zoë "Z" \\ O’Neil',
  })

  await insert('projects', {
    id: project,
    name: 'Café ☕\u0001',
    archived_at: TIME,
    group_feedback: 'auto',
    triage: 'off',
    ...at,
  })
  await insert('project_deletions', { project_id: project, ...actor('actor'), created_at: TIME })
  await insert('lists', {
    id: list,
    project_id: project,
    name: 'Inbox',
    position: 0,
    is_default: true,
    created_at: TIME,
  })
  const closing = id(3)
  await insert('lists', {
    ...{ id: closing, project_id: project, name: 'Old', position: 1, is_closing: true, created_at: TIME },
  })
  await insert('list_deletions', {
    ...{ list_id: closing, project_id: project, target_id: list, move_to: list, created_at: TIME },
    ...actor('actor'),
  })

  await insert('users', {
    ...{
      id: id(900),
      username: 'zoe-2',
      name: 'Zoë "Z" \\ O’Neil',
      email: 'zoë@example.com',
      role: 'member',
    },
    ...{ project_ids: [project], is_active: true, last_seen_at: TIME, created_at: TIME },
  })

  const place = { project_id: project, list_id: list }
  const plain = {
    ...{ ...place, ...at, ...actor('created_by'), status: 'open', priority: 1, source: 'api', version: 1 },
    ...{ labels: [], assignees: [], metadata: {} },
  }
  const task = id(10)
  await insert('tasks', {
    ...plain,
    ...{ id: task, title: LONG_TEXT, description: LONG_TEXT, notes: LONG_TEXT, status: 'done', priority: 3 },
    ...{ source: 'webhook', source_id: id(50), external_id: 'x-1', external_url: 'https://example.com/1' },
    ...{ labels: ['Bug', 'a "b", {c}'], assignees: ['Ada', 'NULL'] },
    ...{ codehost_repository_id: '9007199254740993', codehost_number: 7, codehost_kind: 'pull_request' },
    ...{ codehost_state: 'closed', closed_reason: 'merged', source_state: 'transferred' },
    ...{ author_name: 'ada', author_url: 'https://example.com/ada', is_draft: true, host_updated_at: TIME },
    ...{
      metadata: { a: [1.5, null, { ключ: 'é' }], 'one\n': '\u2028' },
      opened_at: TIME,
      completed_at: TIME,
    },
    ...{ deleted_at: TIME, version: 12, status_before_merge: 'in_progress', merged_into: id(11) },
    ...{ blocked_by: [id(11), id(12)], note_key: 'a-note', write_back: { state: 'failed', error: null } },
    ...{ triaged: false, snoozed_until: '9999-12-31T23:59:59.999Z' },
    question: { commentId: id(20), askedBy: { type: 'assistant', id: null, name: 'a "b"' }, askedAt: TIME },
    ...{ claim_number: 4, claim_expires_at: '9999-12-31T23:59:59.999Z', ...actor('claimed_by') },
  })
  await insert('tasks', {
    ...plain,
    id: id(11),
    title: 'Target',
    labels: ['bug'],
    report_count: 1,
    comment_count: 1,
  })
  await insert('tasks', {
    ...plain,
    id: id(12),
    title: 'A zebra report',
    status: 'done',
    completed_at: TIME,
    merged_into: id(11),
  })
  await insert('comments', {
    ...{ id: id(20), task_id: id(11), body: LONG_TEXT, is_public: true, ...at, ...actor('author') },
    ...{ author_url: 'https://example.com/ada', external_id: '9007199254740995' },
    ...{ external_url: 'https://example.com/c', host_updated_at: TIME },
  })
  const rule = { content: 'Be kind.', priority: 0.1, is_active: false, paths: ['src/**', '{a,b}'] }
  await insert('rules', {
    ...{
      ...rule,
      id: id(30),
      project_id: project,
      version: 2,
      deleted_at: TIME,
      ...at,
      ...actor('updated_by'),
    },
  })
  await insert('rule_versions', { rule_id: id(30), version: 2, ...rule, created_at: TIME, ...actor('actor') })
  await insert('webhook_routing', {
    ...{
      id: id(40),
      name: 'iOS',
      project_match: 'app',
      app_match: 'com.example',
      target_project_id: project,
    },
    ...{ position: 0, is_active: true, ...at },
  })
  await insert('activity', {
    ...{ id: id(60), type: 'task.created', message: LONG_TEXT, task_id: task, project_id: project },
    ...{ metadata: { from: 1e-7 }, created_at: TIME, ...actor('actor') },
  })
  await insert('purged_items', { project_id: project, codehost_repository_id: 1, codehost_number: 2 })
  await insert('sources', {
    ...{
      id: id(50),
      name: 'Sentry',
      project_id: project,
      list_id: list,
      scheme: 'hmac_sha256_hex',
      header: 'x',
    },
    ...{
      prefix: 'v1=',
      secret: SECRET,
      previous_secrets: JSON.stringify([{ secret: SECRET, until: TIME }]),
      each: 'payload.alerts',
    },
    ...{ filter: 'item.a == 1', template: { title: '{{ item.title }}' }, is_active: true, ...at },
    clears: ['labels'],
  })
  await insert('sources', {
    ...{ id: id(49), name: 'PostHog', project_id: project, scheme: 'bearer', secret: SECRET },
    ...{ mapping: 'feedback', is_active: true, ...at },
  })
  await insert('codehost_connections', {
    ...{ id: id(70), project_id: project, repository_id: '9007199254740993', repository: 'acme/app' },
    ...{ api_url: 'https://api.github.com', token: SECRET, list_id: list, schedule: 'hourly' },
    ...{ app: { appId: 1, installationId: 2, privateKey: SECRET }, webhook_secret: SECRET },
    ...{
      previous_webhook_secrets: JSON.stringify([{ secret: SECRET, until: TIME }]),
      write_back: 'comments',
    },
    ...{ comments: true, position: POSITION, comments_position: POSITION },
    ...{ next_run_at: TIME, next_full_at: TIME, connected_at: TIME, updated_at: TIME },
  })
  await insert('webhooks', {
    ...{ id: id(80), name: 'Chat', url: 'https://hooks.example.com/inlet', types: ['task.created'] },
    ...{
      project_id: project,
      secret: SECRET,
      previous_secrets: JSON.stringify([{ secret: SECRET, until: TIME }]),
    },
    ...{ is_active: true, position: 1, created_at: TIME },
  })
  await insert('codehost_labels', { project_id: project, name: 'bug', label: 'Bug', color: 'ff0000' })
  return { project, list, task, target: id(11), source: id(50), webhook: id(80), rule: id(30) }
}

/** In none of the lines of an export. */
export const SECRET = `secret-${randomUUID()}`

const TIME = '2026-11-22T20:29:52.007Z'
const POSITION = { since: TIME, url: 'https://api.github.com/x', etag: '"x"', next: null }
const LONG_TEXT = 'Ünï "quoted" \\ \u0001\u001f\u007f \r\n\t </script> 😀 ＝1+1 end'

/** Ids in an order. */
const id = (number: number) => `019aa3d2-6f4e-7cc0-a1b2-${String(number).padStart(12, '0')}`

import { afterAll, beforeAll, expect, test } from 'vitest'
import { columnsOf } from '../../src/repositories/export/columns.ts'
import { nameOf } from '../../src/repositories/export/index.ts'
import { EXPORTED_TABLES, OMITTED_TABLES } from '../../src/repositories/export/tables.ts'
import { startApp, type TestApp } from '../support/app.ts'

/** What an export has. A column that is missing here must be decided: exported, or omitted with a reason. */
const MEMBERS: Record<string, string> = {
  project: 'id name isDefault archivedAt groupFeedback triage createdAt updatedAt',
  projectDeletion: 'projectId actorType actorId actorName createdAt',
  list: 'id projectId name position isDefault isClosing createdAt',
  listDeletion: 'listId projectId targetId moveTo actorType actorId actorName createdAt',
  user: 'id username name email role projectIds isActive createdAt',
  task: `id title description status priority source sourceId projectId listId externalId externalUrl labels assignees
    codehostRepositoryId codehostNumber codehostKind codehostState closedReason sourceState authorName authorUrl isDraft
    hostUpdatedAt notes metadata createdByType createdById createdByName createdAt openedAt updatedAt completedAt
    deletedAt version mergedInto statusBeforeMerge blockedBy noteKey claimNumber claimExpiresAt claimedByType claimedById
    claimedByName triaged snoozedUntil question`,
  comment: `id taskId body authorType authorId authorName authorUrl isPublic externalId externalUrl hostUpdatedAt createdAt
    updatedAt`,
  rule: `id content priority isActive paths projectId version createdAt updatedAt updatedByType updatedById updatedByName
    deletedAt`,
  ruleVersion: 'ruleId version content priority isActive paths createdAt actorType actorId actorName',
  routingRule: 'id name projectMatch appMatch targetProjectId position isActive createdAt updatedAt',
  activity: 'id type message taskId projectId actorType actorId actorName metadata createdAt',
  purgedItem: 'projectId codehostRepositoryId codehostNumber',
  source:
    'id name projectId listId scheme header prefix mapping each filter template clears createdAt updatedAt',
  connection: `id projectId repositoryId repository apiUrl listId comments position commentsPosition nextFullAt connectedAt
    updatedAt`,
  webhook: 'id name url types projectId createdAt',
  label: 'projectId name label color',
}

let service: TestApp
beforeAll(async () => {
  service = await startApp()
})
afterAll(() => service.close())

test('every table is exported or omitted', async () => {
  const tables = await service.query("select tablename as name from pg_tables where schemaname = 'public'")
  const decided = [...EXPORTED_TABLES.map(nameOf), ...Object.keys(OMITTED_TABLES)]
  expect(tables.map(({ name }) => name).sort()).toEqual(decided.sort())
})

test.each(EXPORTED_TABLES.map((exported) => [exported.kind, exported] as const))(
  'every column of %s is exported or omitted',
  async (kind, exported) => {
    const columns = await service.query(
      'select column_name as name from information_schema.columns where table_name = $1',
      [nameOf(exported)],
    )
    expect(columnsOf(exported).map(({ member }) => member)).toEqual(MEMBERS[kind]?.split(/\s+/))
    const omitted = Object.keys(exported.omitted ?? {})
    expect(columns).toHaveLength((MEMBERS[kind]?.split(/\s+/).length ?? 0) + omitted.length)
  },
)

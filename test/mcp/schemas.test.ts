import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { describe, expect, test } from 'vitest'
import { TOOLS } from '../../src/mcp/tools/index.ts'
import { ClaimRenewal, NextClaim, TaskPatch } from '../../src/schemas/claim-requests.ts'
import { NewComment } from '../../src/schemas/comment.ts'
import { ContextQuery } from '../../src/schemas/context.ts'
import { NewRule, RuleChange } from '../../src/schemas/rule.ts'
import { TaskQuery } from '../../src/schemas/task-query.ts'
import { NewTask } from '../../src/schemas/task-requests.ts'

/** What REST takes for the same. */
const TWINS: Record<string, TObject | undefined> = {
  get_context: ContextQuery,
  create_rule: NewRule,
  update_rule: RuleChange,
  list_tasks: TaskQuery,
  get_task: ContextQuery,
  create_task: NewTask,
  update_task: TaskPatch,
  claim_task: Type.Object({ ...NextClaim.properties, claimNumber: ClaimRenewal.properties.number }),
  add_comment: NewComment,
}

/** Over REST, these are in the path, in a header, or requests of their own. */
const ELSEWHERE = ['id', 'version', 'action', 'mergeInto', 'unmerge']

/** What assistants have no use for. */
const OMITTED: Record<string, string[]> = {
  get_context: ['includeArchived', 'format'],
  get_task: ['projectId', 'paths', 'includeArchived', 'format'],
  create_rule: ['isActive'],
  list_tasks: [
    'kind',
    'externalId',
    'createdSince',
    'openedSince',
    'codehostIssueNumber',
    'codehostPrNumber',
    'includeArchived',
    'deleted',
    'fields',
    'count',
  ],
  create_task: ['source', 'metadata', 'triaged', 'snoozedUntil'],
  // People answer.
  update_task: ['metadata', 'question'],
}

/** A schema without what is said differently to a model. */
const values = ({ description: _, default: __, items, ...schema }: TSchema): TSchema => ({
  ...JSON.parse(JSON.stringify(schema)),
  ...(items && { items: values(items) }),
})

describe('a tool', () => {
  test.each(TOOLS.map(({ name, input }) => [name, input as TObject] as const))(
    'takes the same values as REST, but for what assistants have no use for: %s',
    (name, input) => {
      const twin = TWINS[name]?.properties ?? {}
      const own = Object.entries(input.properties).filter(([member]) => !ELSEWHERE.includes(member))

      for (const [member, schema] of own) {
        expect([member, values(schema)]).toEqual([member, values(twin[member] ?? ({} as TSchema))])
      }
      const names = own.map(([member]) => member)
      expect([...names, ...(OMITTED[name] ?? [])].sort()).toEqual(Object.keys(twin).sort())
      expect(input.additionalProperties).toBe(false)
    },
  )

  test('is one of ten', () => {
    expect(TOOLS).toHaveLength(10)
  })
})

import type { TObject } from '@sinclair/typebox'
import { describe, expect, test } from 'vitest'
import { TOOLS } from '../../src/mcp/tools.ts'
import { NewComment } from '../../src/schemas/comment.ts'
import { Context, ContextQuery } from '../../src/schemas/context.ts'
import { NewRule, Rule, RuleChange, RuleList } from '../../src/schemas/rule.ts'
import { NewTask, Task, TaskChange, TaskListItem, WrittenTask } from '../../src/schemas/task.ts'
import { TaskQuery } from '../../src/schemas/task-query.ts'

/** What each tool is to take, and what REST takes for the same. */
const TWINS: Record<string, TObject | undefined> = {
  get_context: ContextQuery,
  get_rules: undefined,
  create_rule: NewRule,
  update_rule: RuleChange,
  list_tasks: TaskQuery,
  get_task: undefined,
  create_task: NewTask,
  update_task: TaskChange,
  add_comment: NewComment,
}

describe('a tool', () => {
  test.each(TOOLS.map(({ name, input }) => [name, input as TObject] as const))(
    'accepts the same values as REST: %s',
    (name, input) => {
      const twin = TWINS[name]
      for (const [member, schema] of Object.entries(input.properties)) {
        // Over REST it is a path parameter.
        if (member === 'id' && !twin?.properties.id) continue
        expect([member, twin?.properties[member] === schema]).toEqual([member, true])
      }
      expect(input.additionalProperties).toBe(false)
    },
  )

  test('returns the same values as REST, and never metadata', () => {
    const outputs = Object.fromEntries(TOOLS.map(({ name, output }) => [name, output as TObject]))

    expect([outputs.get_context, outputs.get_rules]).toEqual([Context, RuleList])
    expect([outputs.create_rule, outputs.update_rule]).toEqual([Rule, Rule])
    for (const [name, { properties }] of [
      ['get_task', Task],
      ['create_task', WrittenTask],
      ['update_task', WrittenTask],
    ] as const) {
      const { notice: _, comments, latestReports, similar, ...members } = outputs[name]?.properties ?? {}
      const { metadata: __, ...expected } = properties
      expect(members).toEqual(expected)
      for (const added of [comments, latestReports, similar])
        expect([name, added !== undefined]).toEqual([name, name === 'get_task'])
    }
    expect(JSON.stringify(TaskListItem)).toContain('metadata')
    expect(JSON.stringify(Object.values(outputs))).not.toContain('"metadata"')
  })

  test('is one of at most ten', () => {
    expect(TOOLS.length).toBeLessThanOrEqual(10)
  })
})

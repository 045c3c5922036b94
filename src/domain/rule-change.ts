import type { RuleChange } from '../schemas/rule.ts'

interface StoredRule {
  content: string
  priority: number
  isActive: boolean
  paths: string[]
  version: number
}

export interface RuleOutcome {
  update: StoredRule & { updatedAt: Date }
  activities: { type: 'rule.updated' | 'rule.enabled' | 'rule.disabled'; metadata: Record<string, unknown> }[]
}

/** Returns the columns to write and the activity of a rule change; undefined when nothing changes. */
export function decideRuleChange(
  rule: StoredRule,
  { change, now }: { change: RuleChange; now: Date },
): RuleOutcome | undefined {
  const { content = rule.content, isActive = rule.isActive } = change
  const paths = change.paths ? distinct(change.paths) : rule.paths
  const priority = plainNumber(change.priority ?? rule.priority)
  const changes = {
    ...(content !== rule.content && { content: 'changed' }),
    ...(priority !== rule.priority && { priority: { from: rule.priority, to: priority } }),
    ...(paths.join() !== rule.paths.join() && { paths: { from: rule.paths, to: paths } }),
  }
  const isSwitched = isActive !== rule.isActive
  const activities: RuleOutcome['activities'] = []
  if (Object.keys(changes).length > 0) activities.push({ type: 'rule.updated', metadata: { changes } })
  if (isSwitched) activities.push({ type: isActive ? 'rule.enabled' : 'rule.disabled', metadata: {} })
  if (activities.length === 0) return undefined
  const update = { content, priority, isActive, paths, updatedAt: now, version: rule.version + 1 }
  return { update, activities }
}

export const distinct = (paths: string[]) => [...new Set(paths)]

/** Turns -0 into 0: JSON has a negative zero, which equals zero in every comparison. */
export const plainNumber = (number: number) => number + 0

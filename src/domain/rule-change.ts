import type { RuleRow, RuleUpdate } from '../repositories/rules.ts'
import type { RuleChange } from '../schemas/rule.ts'

export interface RuleOutcome {
  update: RuleUpdate
  entries: { type: 'rule.updated' | 'rule.enabled' | 'rule.disabled'; metadata: Record<string, unknown> }[]
}

/** Returns the columns to write and the activity of a rule change; undefined when nothing changes. */
export function decideRuleChange(rule: RuleRow, change: RuleChange, now: Date): RuleOutcome | undefined {
  const { content = rule.content, isActive = rule.isActive } = change
  const priority = plainNumber(change.priority ?? rule.priority)
  const changes = {
    ...(content !== rule.content && { content: 'changed' }),
    ...(priority !== rule.priority && { priority: { from: rule.priority, to: priority } }),
  }
  const isSwitched = isActive !== rule.isActive
  const entries: RuleOutcome['entries'] = []
  if (Object.keys(changes).length > 0) entries.push({ type: 'rule.updated', metadata: { changes } })
  if (isSwitched) entries.push({ type: isActive ? 'rule.enabled' : 'rule.disabled', metadata: {} })
  if (entries.length === 0) return undefined
  return { update: { content, priority, isActive, updatedAt: now, version: rule.version + 1 }, entries }
}

/** Turns -0 into 0: JSON has a negative zero, which equals zero in every comparison. */
export const plainNumber = (number: number) => number + 0

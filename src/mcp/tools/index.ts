import { ruleTools } from './rules.ts'
import { taskTools } from './tasks.ts'
import type { Tool } from './tool.ts'

export type { Tool } from './tool.ts'

/** At most ten: every client loads all definitions in every session. */
export const TOOLS: Tool[] = [...ruleTools, ...taskTools]

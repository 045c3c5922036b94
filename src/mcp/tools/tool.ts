import type { Static, TObject } from '@sinclair/typebox'
import type { Operation } from '../../domain/operation.ts'
import type { Caller } from '../../services/access.ts'
import type { UseCases } from '../../services/index.ts'
import type { ToolResult } from '../long-results.ts'

export interface Tool {
  name: string
  title: string
  /** For a model: when to use it, and what it returns. Errors say themselves what to do (`advice.ts`). */
  description: string
  /** The operation that REST also enforces. */
  operation: Operation
  annotations: {
    readOnlyHint: boolean
    destructiveHint: boolean
    idempotentHint: boolean
    openWorldHint: boolean
  }
  input: TObject
  output: TObject
  /** Returns the structured content, and a text with the same content: clients give models either of them, or both. */
  run(args: unknown, useCases: UseCases & { caller: Caller }): Promise<ToolResult>
}

interface TypedTool<I extends TObject, O extends TObject> extends Omit<Tool, 'run' | 'input' | 'output'> {
  input: I
  output: O
  run(args: Static<I>, useCases: UseCases & { caller: Caller }): Promise<ToolResult<Static<O> & object>>
}

/** Cast: the server validates the arguments before it runs the tool. */
export function tool<I extends TObject, O extends TObject>({ run, ...rest }: TypedTool<I, O>): Tool {
  return { ...rest, run: (args, useCases) => run(args as Static<I>, useCases) }
}

export const reads = { readOnlyHint: true, destructiveHint: false, idempotentHint: true }
export const creates = { readOnlyHint: false, destructiveHint: false, idempotentHint: false }
export const overwrites = { readOnlyHint: false, destructiveHint: true, idempotentHint: true }
/** Rules are written by the team, but tools that return tasks return untrusted text: `openWorldHint` tells clients. */
export const closedWorld = { openWorldHint: false }
export const openWorld = { openWorldHint: true }

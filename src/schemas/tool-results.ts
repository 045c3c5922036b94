import { Type } from '@sinclair/typebox'
import { Nullable } from './parts.ts'
import type { ActorType } from './task.ts'

/*
 * What the AI tools return, with the members that an assistant needs to know beforehand; results may have more. There are
 * no descriptions and limits: every client loads all of it in every session.
 */

const text = Type.String()
const texts = Type.Array(text)
const integer = Type.Integer()

const RuleLine = { id: text, content: text, priority: Type.Number() }

export const RuleLines = Type.Object({ data: Type.Array(Type.Object(RuleLine)) })

/** Whoever wrote it knows the rest. */
export const WrittenRule = Type.Object({ id: text, isActive: Type.Boolean() })

/** A task in a list of tasks. */
export interface TaskLine {
  id: string
  /** Of the issue or pull request. */
  number?: number
  title: string
  status: string
  priority: string
  labels?: string[]
  list?: string
  isReady?: boolean
}
const ShownLine = Type.Unsafe<TaskLine>(Type.Object({ id: text, title: text, status: text }))

export const TaskLines = Type.Object({ data: Type.Array(ShownLine), nextCursor: Nullable(text) })

export const ContextResult = Type.Object({
  instructions: Type.Array(Type.Object({ id: text, content: text })),
  lists: Type.Array(Type.Object({ id: text, name: text })),
  /** Absent without `tasks:read`. */
  tasks: Type.Optional(Type.Object({ recent: Type.Array(Type.Object({ id: text, title: text })) })),
  omitted: Type.Array(Type.Object({})),
})

const Claim = Nullable(Type.Object({ number: integer, expiresAt: text }))

const TaskResult = { id: text, version: integer }

/** Keys without `tasks:read` get nothing else, and whoever wrote the task knows the rest. */
export const WrittenTaskResult = Type.Object(TaskResult)

export const WholeTaskResult = Type.Object({
  ...TaskResult,
  title: Type.Optional(text),
  status: Type.Optional(text),
  claim: Type.Optional(Claim),
  blockedBy: Type.Optional(texts),
  description: Type.Optional(text),
  notes: Type.Optional(text),
  comments: Type.Optional(Type.Array(Type.Object({ author: text, body: text }))),
  cut: Type.Optional(texts),
})

/** Without a task if none is ready. */
export const ClaimResult = Type.Object({
  ...Type.Partial(Type.Object(TaskResult)).properties,
  claim: Claim,
})

export const AddedComment = Type.Object({ id: text })

/** A comment of `get_task`. */
export interface AssistantComment {
  id: string
  author: string
  authorType: (typeof ActorType)[number]
  createdAt: string
  body: string
  /** Whether the text is longer. */
  isCut: boolean
}

import { AppError, type FieldError } from '../errors/index.ts'
import { MAX_RECEIVED_BYTES } from '../schemas/formats.ts'
import { importLines } from '../schemas/import-lines.ts'
import { MAX_RULES } from '../schemas/rule.ts'
import type { ClearableMember, SourceTemplate, Verify } from '../schemas/source.ts'
import { MAX_WEBHOOKS } from '../schemas/webhook.ts'
import { repositoryOf } from './codehost/repository.ts'
import { type Mapped, refuseMapping } from './sources/mapping.ts'
import { parseDefinition } from './sources/templates.ts'
import { refuseVerify } from './sources/verify.ts'
import { checkCompiler } from './validation/checks.ts'

/** The members of a line, whose types are those of its columns. */
// biome-ignore lint/suspicious/noExplicitAny: each kind has its own members, and the columns' types were checked.
type Line = Record<string, any>

/** Checks the values of a line as the API does; the paths of the errors are members such as `labels.3`. */
export type LimitCheck = (kind: string, line: Line) => FieldError[]

/** Counts the lines of a file, so each file needs a check of its own. */
export function importLimits(): LimitCheck {
  const rules = new Map<string | null, number>()
  let webhooks = 0

  const ofKind: Record<string, (line: Line) => FieldError[]> = {
    project: ({ isDefault, archivedAt }) =>
      isDefault && archivedAt ? [notAllowed('archivedAt', 'must be null: the project is the default')] : [],
    list: ({ isDefault, isClosing }) =>
      isDefault && isClosing ? [notAllowed('isClosing', 'must be false: the list is the default')] : [],
    task: taskErrors,
    comment: ({ externalId, body }) => (externalId == null ? [] : sizeErrors({ body })),
    rule({ projectId, deletedAt }) {
      if (deletedAt) return []
      const scope = projectId?.toLowerCase() ?? null
      const count = (rules.get(scope) ?? 0) + 1
      rules.set(scope, count)
      return count > MAX_RULES
        ? [tooMany(`At most ${MAX_RULES} rules can apply to one project, or to all`)]
        : []
    },
    routingRule: ({ projectMatch, appMatch }) =>
      projectMatch == null && appMatch == null
        ? [{ path: 'projectMatch', code: 'required', message: 'is required, unless appMatch is set' }]
        : [],
    source: sourceErrors,
    connection: ({ repository }) =>
      repositoryOf(repository)?.name === repository
        ? []
        : [{ path: 'repository', code: 'wrong_format', message: 'must be owner/name' }],
    webhook: () =>
      ++webhooks > MAX_WEBHOOKS ? [tooMany(`There can be at most ${MAX_WEBHOOKS} webhooks`)] : [],
  }

  return (kind, line) => {
    const limits = checkOf(schemaNameOf(kind, line))?.(line, memberOf).error
    return [...(limits?.extras.errors ?? []), ...(ofKind[kind]?.(line) ?? [])]
  }
}

let checks: ReturnType<typeof checkCompiler> | undefined
const compiled = new Map<string, ReturnType<ReturnType<typeof checkCompiler>>>()

/** Compiled once for all imports. What an import leaves out stays omitted. */
function checkOf(name: string) {
  const schema = importLines[name]
  if (!schema) return undefined
  checks ??= checkCompiler({ coerceTypes: false, useDefaults: false })
  const check = compiled.get(name) ?? checks(schema)
  compiled.set(name, check)
  return check
}

function schemaNameOf(kind: string, { source, externalId }: Line): string {
  if (kind === 'task' && (source === 'codehost' || source === 'analytics')) return 'receivedTask'
  if (kind === 'comment' && externalId != null) return 'receivedComment'
  return kind
}

/** What is not a merge with another line: those are checked once all tasks are there. */
function taskErrors(task: Line): FieldError[] {
  const { id, source, description, mergedInto, deletedAt, status, blockedBy = [] } = task
  const isReceived = source === 'codehost' || source === 'analytics'
  return [
    ...(isReceived && description != null ? sizeErrors({ description }) : []),
    ...(isSame(id, mergedInto) ? [notAllowed('mergedInto', 'must be another task')] : []),
    ...(mergedInto && !deletedAt && status !== 'done'
      ? [notAllowed('status', 'must be done: the task is merged into another one')]
      : []),
    ...blockedBy.flatMap((blocker: string, index: number) =>
      isSame(id, blocker) ? [notAllowed(`blockedBy.${index}`, 'must be another task')] : [],
    ),
    ...claimErrors(task),
  ]
}

/** A claim has a number, and somebody who made it; an expired one has no end any more. */
function claimErrors({ claimNumber = 0, claimExpiresAt, claimedByType, claimedByName }: Line): FieldError[] {
  const isClaimed = Boolean(claimedByType)
  return [
    ...(isClaimed === (claimedByName != null)
      ? []
      : [notAllowed('claimedByName', 'must be set together with claimedByType')]),
    ...(claimExpiresAt && !isClaimed
      ? [notAllowed('claimExpiresAt', 'must be null: nobody has claimed it')]
      : []),
    ...(isClaimed && claimNumber < 1
      ? [notAllowed('claimNumber', 'must be at least 1: the task is claimed')]
      : []),
  ]
}

function sourceErrors(line: Line) {
  const { scheme, header = null, prefix = null } = line
  const { mapping = 'template', listId = null, each = null, filter = null, template, clears = [] } = line
  const verify = errorsOf(() => refuseVerify({ scheme, header, prefix } as Verify))
  // Casts: the columns and the schema of the line have been checked.
  const templates = template as SourceTemplate | null
  const definition = { each, filter, clears: clears as ClearableMember[] }
  const mapped = errorsOf(() =>
    refuseMapping({ mapping, listId, template: templates, ...definition } as Mapped),
  )
  const parsed = templates && parseDefinition({ ...definition, template: templates })
  const errors = [...verify, ...mapped, ...(parsed && 'errors' in parsed ? parsed.errors : [])]
  return errors.map((error) => ({ ...error, path: memberOf(error.path.replace('/verify', '')) }))
}

/** The errors that a check of the API throws. */
function errorsOf(check: () => void): FieldError[] {
  try {
    check()
    return []
  } catch (error) {
    if (error instanceof AppError) return error.extras.errors ?? []
    throw error
  }
}

const sizeErrors = (texts: Record<string, string>): FieldError[] =>
  Object.entries(texts).flatMap(([path, text]) =>
    Buffer.byteLength(text) > MAX_RECEIVED_BYTES
      ? [{ path, code: 'too_long', message: `must have at most ${MAX_RECEIVED_BYTES} bytes` }]
      : [],
  )

const isSame = (id: string, other: string | null | undefined) => other?.toLowerCase() === id.toLowerCase()

/** A JSON Pointer as the members of a line are named. */
const memberOf = (pointer: string) => pointer.slice(1).replaceAll('/', '.')

const notAllowed = (path: string, message: string): FieldError => ({ path, code: 'not_allowed', message })

const tooMany = (rule: string): FieldError => ({
  path: '',
  code: 'too_many',
  message: `is one too many. ${rule}`,
})

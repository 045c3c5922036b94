import { createHash } from 'node:crypto'
import { type AppError, type FieldError, validationFailed } from '../errors/index.ts'
import { FORMAT } from './export-format.ts'
import { type ImportField, valueErrors } from './import-fields.ts'
import { importLimits } from './import-limits.ts'
import { MAX_ERRORS } from './validation/field-errors.ts'

/** A kind of line, and its members. */
export interface ImportKind {
  kind: string
  fields: ImportField[]
}

/** A line that is to be inserted. */
export interface ImportRow {
  kind: string
  text: string
  /** From 1. */
  line: number
  /** Its id, if it refers to rows that may come later: these references are checked at the end. */
  referring: string | undefined
}

export type ImportReader = ReturnType<typeof importReader>

/** Reads the lines of an export in their order, checks each, and collects the errors. */
export function importReader(kinds: ImportKind[]) {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const fieldsOf = new Map(
    kinds.map(({ kind, fields }) => [kind, new Map(fields.map((field) => [field.name, field]))]),
  )
  const order = kinds.map(({ kind }) => kind)
  const counts = new Map(order.map((kind) => [kind, 0]))
  const hash = createHash('sha256')
  const limitErrors = importLimits()
  const errors: FieldError[] = []
  let line = 0
  let section: 'header' | 'rows' | 'end' = 'header'
  let last: { line: number; members: Record<string, unknown> } | undefined
  let lastKind = 0

  return {
    counts,
    hasErrors: () => errors.length > 0,

    /**
     * Reads the next line. Returns a row, and undefined for the first line, the last one, and those with errors.
     * @throws validation_failed after the first line if the format is not supported, and once there are many errors
     */
    read(bytes: Buffer): ImportRow | undefined {
      line++
      const text = decoded(bytes)
      const members = text === undefined ? undefined : objectIn(text)
      if (section === 'header') {
        readHeader(members)
        return undefined
      }
      if (section === 'end') return fail('', { code: 'not_allowed', message: 'follows the last line' })
      if (members?.kind === 'end') {
        section = 'end'
        last = { line, members }
        return undefined
      }
      hash.update(bytes).update('\n')
      if (!members || text === undefined) {
        return fail('', { code: 'wrong_format', message: 'must be a JSON object in UTF-8' })
      }
      const { kind } = members
      if (!isInOrder(kind)) return undefined
      const wrongTypes = valueErrors(members, fieldsOf.get(kind) ?? new Map())
      const found = wrongTypes.length > 0 ? wrongTypes : limitErrors(kind, members)
      for (const { path, code, message } of found) fail(path, { code, message })
      return found.length > 0 ? undefined : { kind, text, line, referring: referringId(members) }
    },

    /** Adds the error of an earlier line. */
    refuse(at: number, { member = '', ...error }: Omit<FieldError, 'path'> & { member?: string }): void {
      fail(member, { ...error, at })
    },

    /** The error of a line that is too long to be read. */
    tooLong(maxBytes: number): AppError {
      const message = `must have at most ${maxBytes} bytes`
      return validationFailed([...errors, { path: `line.${line + 1}`, code: 'too_long', message }])
    },

    /**
     * To be called after all rows are inserted: what is wrong with one of them comes before what it makes wrong here.
     * @throws validation_failed if any line was invalid or there is no last line
     */
    end(): void {
      if (last) checkEnd(last)
      else {
        line++
        fail('', { code: 'required', message: 'is missing: the file ends before its last line' })
      }
      refuseErrors()
    },

    /** @throws validation_failed if any line was invalid */
    refuseErrors,
  }

  function refuseErrors(): void {
    if (errors.length > 0) throw validationFailed(errors)
  }

  function decoded(bytes: Buffer): string | undefined {
    try {
      return decoder.decode(bytes)
    } catch {
      return undefined
    }
  }

  function fail(
    member: string,
    { code, message, at = line }: Omit<FieldError, 'path'> & { at?: number },
  ): undefined {
    errors.push({ path: member === '' ? `line.${at}` : `line.${at}.${member}`, code, message })
    if (errors.length >= MAX_ERRORS) refuseErrors()
  }

  /** Nothing else can be read without it. */
  function readHeader(members: Record<string, unknown> | undefined): void {
    section = 'rows'
    if (members?.kind !== 'header' || !Number.isInteger(members.format)) {
      fail('', { code: 'wrong_format', message: 'must be the header of an export' })
    } else if ((members.format as number) > FORMAT) {
      const by = typeof members.version === 'string' ? ` by Inlet ${members.version.slice(0, 100)}` : ''
      const message = `is ${members.format}, but this instance reads formats up to ${FORMAT}. The file was exported${by}: upgrade this instance first`
      fail('format', { code: 'not_supported', message })
    }
    refuseErrors()
  }

  function isInOrder(kind: unknown): kind is string {
    const index = order.indexOf(kind as string)
    if (index < 0) {
      const message =
        'is not a known kind of line. If a later version of Inlet exported the file, upgrade this instance first'
      fail('kind', { code: 'not_allowed', message })
      return false
    }
    if (index < lastKind) {
      const message = `must come before lines of kind ${order[lastKind]}`
      fail('kind', { code: 'not_allowed', message })
      return false
    }
    lastKind = index
    counts.set(kind as string, (counts.get(kind as string) ?? 0) + 1)
    return true
  }

  function checkEnd({ line: at, members }: { line: number; members: Record<string, unknown> }): void {
    const given = typeof members.counts === 'object' && members.counts !== null ? members.counts : {}
    for (const [kind, count] of counts) {
      const expected = (given as Record<string, unknown>)[kind] ?? 0
      if (expected !== count) {
        const message = `is ${expected}, but the file has ${count} of these lines`
        fail(`counts.${kind}`, { code: 'not_allowed', message, at })
      }
    }
    if (members.sha256 !== hash.digest('hex')) {
      const message = 'does not match the lines before: the file is damaged, or was edited'
      fail('sha256', { code: 'not_allowed', message, at })
    }
  }
}

/** Tasks refer to later ones, and the list of a source or a connection has to belong to its project. */
function referringId({
  kind,
  id,
  mergedInto,
  blockedBy,
  listId,
}: Record<string, unknown>): string | undefined {
  const isReferring =
    kind === 'task'
      ? Boolean(mergedInto) || (Array.isArray(blockedBy) && blockedBy.length > 0)
      : (kind === 'source' || kind === 'connection') && Boolean(listId)
  return isReferring ? String(id) : undefined
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

import { LRUCache } from 'lru-cache'
import { braceExpand, Minimatch, type MinimatchOptions } from 'minimatch'
import { type FieldError, validationFailed } from '../errors/index.ts'

/** Of one glob, after its braces are expanded. */
const MAX_ALTERNATIVES = 20

/**
 * Globs and paths are relative to the root of a repository. Minimatch follows all ways through a pattern at the same
 * time, so none backtracks: the time grows with the lengths of pattern and path.
 */
const OPTIONS: MinimatchOptions = {
  dot: true,
  nocomment: true,
  nonegate: true,
  noext: true,
  platform: 'linux',
  braceExpandMax: MAX_ALTERNATIVES + 1,
}

/** By characters: a compiled glob takes up to 150 bytes for each, and as much time as reading it a thousand times. */
const matchers = new LRUCache<string, Minimatch>({
  maxSize: 100_000,
  sizeCalculation: (_, { length }) => length,
})

/** Whether a glob matches one of these files. */
export function matchesAny(glob: string, files: string[]): boolean {
  const literals = literalsOf(glob)
  return files.some((file) => hasInOrder(file, literals) && matcherOf(glob).match(file))
}

/** What each file that a glob matches has in this order. Most files need no compiled glob then. */
const literalsOf = (glob: string): string[] => glob.split(NOT_LITERAL)

/**
 * Stars, classes that end at their first bracket, and groups of plain words, with the slashes around them: a folder at
 * any depth may be none. Any other bracket ends what is known.
 */
const NOT_LITERAL = /\/?(?:[*?]+|\[!?[\w-]+\]|\{[^{}[]*,[^{}[]*\}|[[{].*)\/?/s

function hasInOrder(file: string, literals: string[]): boolean {
  let from = 0
  for (const literal of literals) {
    const at = file.indexOf(literal, from)
    if (at < 0) return false
    from = at + literal.length
  }
  return true
}

function matcherOf(glob: string): Minimatch {
  const known = matchers.get(glob)
  if (known) return known
  const matcher = new Minimatch(glob, OPTIONS)
  matchers.set(glob, matcher)
  return matcher
}

/** A path as globs have it: `.\src\app.ts` is `src/app.ts`. */
export const relativePath = (path: string): string =>
  path
    .replaceAll('\\', '/')
    .replace(/^(\.?\/)+/, '')
    .replace(/\/+$/, '')

/** @throws validation_failed */
export function refuseInvalidGlobs(globs: string[] = []): void {
  const errors = globs.flatMap((glob, index): FieldError[] => {
    const message = complaintAbout(glob)
    return message ? [{ path: `/paths/${index}`, code: 'invalid_glob', message }] : []
  })
  if (errors.length > 0) throw validationFailed(errors)
}

/** Why a text is no glob for files of a repository; undefined if it is one. */
function complaintAbout(glob: string): string | undefined {
  if (/\p{Cc}/u.test(glob)) return 'must be one line without control characters'
  if (glob.includes('\\')) return 'must have / between folders, not \\'
  if (glob.startsWith('!')) return 'must not begin with !: a rule cannot exclude files'
  if (glob.startsWith('/'))
    return 'must be relative to the root of the repository, without / at the beginning'
  if (glob.endsWith('/')) return 'must match files: for all files of a folder, end it with /**'
  if (/(^|\/)\.{0,2}(\/|$)/.test(glob)) return 'must not contain empty folders, . or ..'
  if (!isClosed(glob)) return 'has a { or [ that is not closed'
  if (braceExpand(glob, OPTIONS).length > MAX_ALTERNATIVES) {
    return `must stand for at most ${MAX_ALTERNATIVES} globs when its braces are expanded`
  }
  return undefined
}

/** Whether all braces and classes end. What is in a class is literal. */
function isClosed(glob: string): boolean {
  const withoutClasses = glob.replace(/\[[!^]?\]?[^\]]*\]/g, '')
  let open = 0
  for (const character of withoutClasses) {
    if (character === '[') return false
    if (character === '{') open++
    if (character === '}' && open > 0) open--
  }
  return open === 0
}

/**
 * One word for one thing. The words refused here were in use once, and each names what replaced it, so that a search
 * for the usual term finds the code.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { fetchTools } from './tools/fetch.ts'
import type { Node, SourceFile } from './tools/typescript.ts'

/** Refused as a whole word of a declared name, in any case: `gate` refuses `lastGate` and `GATE_MS`, not `navigate`. */
const NAMES: Record<string, string> = {
  answer: 'response',
  answered: 'returned',
  answers: 'responses',
  discreetly: 'redacted',
  fold: 'aggregate or index',
  folds: 'aggregates or indexes',
  gate: 'semaphore',
  gates: 'semaphores',
  happening: 'activityText',
  happenings: 'activityText',
  heard: 'received',
  housekeeping: 'cleanup',
  impatient: 'deadline',
  instruments: 'metrics',
  lane: 'concurrency',
  lanes: 'concurrency',
  mistake: 'error',
  mistakes: 'errors',
  moment: 'time',
  moments: 'times',
  overtaken: 'conflict',
  patience: 'deadline',
  patient: 'deadline',
  patiently: 'retry',
  portion: 'slice or batch',
  portions: 'slices or batches',
  proofs: 'credentials',
  said: 'message',
  sweep: 'cleanup',
  sweeps: 'cleanup',
  swept: 'cleanup',
  told: 'reported',
  trouble: 'ErrorPage',
  troubles: 'errors',
  vitals: 'metrics',
  wanted: 'required or expected',
}

/** Refused as the start of a name. */
const PREFIXES: Record<string, string> = {
  HEAVIEST_: 'MAX_',
  LONGEST_: 'MAX_',
  MOST_: 'MAX_',
  noneIf: 'skip',
}

/** Refused as the whole name of a schema helper. */
const SCHEMA_HELPERS: Record<string, string> = {
  AnyOf: 'QueryArray',
  Choice: 'StringEnum',
  Closed: 'StrictObject',
  Line: 'TrimmedString',
  Moment: 'DateTime',
}

/** Refused in text for users. */
const PHRASES: Record<string, string> = {
  'comes back': 'returns',
  'ends being': 'is invalid at',
  'goes on': 'continues',
  'is told': 'gets or is notified',
  'is wanted': 'is required',
  'left out': 'omitted or skipped',
  mistakes: 'errors',
  mistake: 'error',
  'stands\\b(?! for)': 'is',
}

/** Names and texts in which the word means something else. */
const ALLOWED: { file: string; text: string; because: string }[] = [
  {
    file: 'test/dashboard/tasks/rank-names.test.ts',
    text: 'MOST_USED_FIRST',
    because: 'it is an order, not a limit',
  },
  { file: 'docs/changelog.md', text: '`Mistake`', because: 'a component of the API had this name' },
]

/** Parsing is slow: a file without a refused word in any name, or in a comment, is not parsed. */
const MAY_HAVE_NAMES = new RegExp(
  [
    `(?<![a-z])(?:${Object.keys(NAMES).join('|')})(?![a-z])`,
    `(?:${Object.keys(NAMES).map(capitalized).join('|')})(?![a-z])`,
    `(?<![A-Z])(?:${[...Object.keys(NAMES).map((word) => word.toUpperCase())].join('|')})(?![A-Z])`,
    `\\b(?:${[...Object.keys(PREFIXES), ...Object.keys(SCHEMA_HELPERS)].join('|')})`,
  ].join('|'),
)

const ANY_PHRASE = new RegExp(`\\b(?:${Object.keys(PHRASES).join('|')})`, 'i')

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const code = [...filesBelow('src', /\.tsx?$/), ...filesBelow('test', /\.tsx?$/)].filter(
  (file) => !/node_modules|\.gen\.ts$/.test(file) && !file.startsWith('test/vocabulary'),
)
const documents = ['README.md', 'src/README.md', '.github/CONTRIBUTING.md', '.github/SECURITY.md'].concat(
  filesBelow('docs', /\.md$/),
)

let ts: typeof import('./tools/typescript.ts').default

beforeAll(async () => {
  fetchTools()
  ;({ default: ts } = await import('./tools/typescript.ts'))
})

describe('names in src and test', () => {
  test('use the words of the vocabulary', () => {
    const refused = code.flatMap((file) => namesIn(file, read(file)).flatMap((name) => refusalOf(file, name)))
    expect(refused).toEqual([])
  })

  test('of files use them, too', () => {
    const refused = code.flatMap((file) => {
      const words = file.replace(/\.\w+$/, '').split(/[/.-]/)
      return words.filter((word) => word in NAMES).map((word) => `${file}: say ${NAMES[word]}, not ${word}`)
    })
    expect(refused).toEqual([])
  })

  test.each([
    ['const trouble = 1', 'trouble'],
    ['function f({ a: lastGate }) {}', 'lastGate'],
    ['interface Vitals { a: 1 }', 'Vitals'],
    ['class Overtaken {}', 'Overtaken'],
    ['type A = { lanes: 1 }', 'lanes'],
    ['const HEAVIEST_BATCH = 1', 'HEAVIEST_BATCH'],
    ['function noneIfLocked() {}', 'noneIfLocked'],
    ['import { a as happenings } from "a"', 'happenings'],
  ])('are found: %s', (text, name) => {
    expect(namesIn('src/a.ts', text).flatMap((each) => refusalOf('src/a.ts', each))).toEqual([
      expect.stringContaining(`not ${name}`),
    ])
  })

  test.each(['const aggregate = 1', 'const navigate = 1', '// the gate', 'entry.vitals()'])(
    'may be another word, or belong to a package: %s',
    (text) => {
      expect(namesIn('src/a.ts', text).flatMap((each) => refusalOf('src/a.ts', each))).toEqual([])
    },
  )
})

describe('text for users', () => {
  test.each(['test/contract/openapi.json', 'test/contract/mcp-tools.json', ...documents])(
    'uses the words of the vocabulary in %s',
    (file) => {
      expect(
        read(file)
          .split('\n')
          .flatMap((line, index) => phrasesIn(`${file}:${index + 1}`, line)),
      ).toEqual([])
    },
  )

  test('uses them in errors, in the log and in the dashboard', () => {
    const refused = code
      .filter((file) => file.startsWith('src/'))
      .flatMap((file) => textsIn(file, read(file)).flatMap((text) => phrasesIn(file, text)))
    expect(refused).toEqual([])
  })

  test.each([
    'const a = "It ends being."',
    'const a = <p>It ends{" "}being. It ends being.</p>',
    'f(`It ends being.`)',
  ])('is found: %s', (text) => {
    expect(textsIn('src/a.tsx', text).flatMap((each) => phrasesIn('src/a.tsx', each))).toHaveLength(1)
  })
})

function refusalOf(file: string, name: string): string[] {
  if (isAllowed(file, name)) return []
  const replacements = [
    ...wordsOf(name).map((word) => NAMES[word]),
    ...Object.keys(PREFIXES).map((prefix) => (name.startsWith(prefix) ? PREFIXES[prefix] : undefined)),
    file.startsWith('src/schemas/') ? SCHEMA_HELPERS[name] : undefined,
  ]
  return replacements
    .filter((replacement) => replacement !== undefined)
    .map((replacement) => `${file}: say ${replacement}, not ${name}`)
}

function phrasesIn(place: string, text: string): string[] {
  if (!ANY_PHRASE.test(text)) return []
  return Object.entries(PHRASES).flatMap(([phrase, replacement]) => {
    const found = new RegExp(`\\b${phrase}\\b`, 'i').exec(text)
    return found && !isAllowed(place, text) ? `${place}: say ${replacement}, not ${found[0]}` : []
  })
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

const isAllowed = (place: string, text: string) =>
  ALLOWED.some((allowed) => place.startsWith(allowed.file) && text.includes(allowed.text))

/** `MAX_openTasks` is max, open and tasks. */
const wordsOf = (name: string) =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .split('_')

/** The names that a file declares; what it only uses may belong to a package or the language. */
function namesIn(file: string, text: string): string[] {
  if (!MAY_HAVE_NAMES.test(text)) return []
  return nodesOf(parse(file, text)).flatMap((node) => {
    const { name } = node as Node & { name?: Node }
    const declares =
      ts.isVariableDeclaration(node) ||
      ts.isFunctionLike(node) ||
      ts.isParameter(node) ||
      ts.isBindingElement(node) ||
      ts.isImportSpecifier(node) ||
      ts.isClassDeclaration(node) ||
      ts.isInterfaceDeclaration(node) ||
      ts.isTypeAliasDeclaration(node) ||
      ts.isPropertySignature(node)
    return declares && name && ts.isIdentifier(name) ? [name.text] : []
  })
}

/** The strings of a file, and what its elements show; a template without its values. */
function textsIn(file: string, text: string): string[] {
  if (phrasesIn('', text).length === 0) return []
  return nodesOf(parse(file, text)).flatMap((node) =>
    ts.isStringLiteralLike(node) ||
    ts.isJsxText(node) ||
    ts.isTemplateHead(node) ||
    ts.isTemplateMiddleOrTemplateTail(node)
      ? node.text
      : [],
  )
}

function nodesOf(source: SourceFile): Node[] {
  const nodes: Node[] = []
  const visit = (node: Node) => {
    nodes.push(node)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return nodes
}

function parse(file: string, text: string): SourceFile {
  const kind = file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS
  return ts.createSourceFile(file, text, ts.ScriptTarget.Latest, false, kind)
}

function filesBelow(directory: string, pattern: RegExp): string[] {
  return readdirSync(join(root, directory), { recursive: true, encoding: 'utf8' })
    .filter((file) => pattern.test(file))
    .map((file) => `${directory}/${file.replaceAll('\\', '/')}`)
}

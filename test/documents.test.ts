import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Nodes } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { describe, expect, test } from 'vitest'
import { usage } from '../src/commands/call.ts'
import { VARIABLES } from '../src/config.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')

const guides = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.md'))
  .map((file) => `docs/${file}`)
/** Pages of a guide, which links to them. */
const isPart = (guide: string) => dirname(guide) !== 'docs'
const documents = ['README.md', 'src/README.md', '.github/CONTRIBUTING.md', '.github/SECURITY.md', ...guides]

describe('the documents', () => {
  test('name only files and scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json'))
    const missing = documents.flatMap((document) => {
      const text = read(document)
      const paths = [...text.matchAll(/`((?:src|test|docs|migrations|\.ci|\.github)\/[\w./-]*)`/g)].map(
        ([, path = '']) => path,
      )
      const runs = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name)
      return [
        ...paths
          .filter((path) => !existsSync(join(root, path)))
          .map((path) => `${document} names ${path}, which does not exist`),
        ...runs
          .filter((name) => !scripts[name])
          .map((name) => `${document} names npm run ${name}, which does not exist`),
      ]
    })
    expect(missing).toEqual([])
  })

  test('link only to files and headings that exist', () => {
    const dead = documents.flatMap((document) =>
      linksOf(document)
        .filter((link) => !/^(https?|mailto):/.test(link))
        .filter((link) => {
          const [path = '', anchor] = link.split('#')
          const target = path === '' ? document : relative(root, join(root, dirname(document), path))
          if (!existsSync(join(root, target))) return true
          return anchor !== undefined && !anchorsOf(target).includes(anchor)
        })
        .map((link) => `${document} links to ${link}, which does not exist`),
    )
    expect(dead).toEqual([])
  })
})

test('src/README.md describes every folder and file of src', () => {
  const described = [...read('src/README.md').matchAll(/^- `([\w.-]+)\/?` /gm)].map(([, name]) => name)
  expect(described.sort()).toEqual(readdirSync(join(root, 'src')).filter((name) => name !== 'README.md'))
})

test('src/README.md names only files that exist in src', () => {
  const named = [...read('src/README.md').matchAll(/`([\w-]+\/[\w/-]+\.tsx?)`/g)].map(([, path = '']) => path)
  expect(named.length).toBeGreaterThan(20)
  const inSrc = named.map((path) => (/^(src|test)\//.test(path) ? path : `src/${path}`))
  expect(inSrc.filter((path) => !existsSync(join(root, path)))).toEqual([])
})

test('src/README.md counts the files that it lists for each value', () => {
  const lists = [
    ...read('src/README.md').matchAll(/^- \*\*(?:Title|Note|Key|Issue|Sent change)\*\*: (.*)$/gm),
  ]
  const listed = lists.map(([, text = '']) => text.split('It is declared')[0]?.match(/`[^`]+\.ts`/g)?.length)
  const counted = [...read('src/README.md').matchAll(/^\| [^|]+ \| (\d+) \|$/gm)].map(([, n]) => Number(n))
  expect(counted).toHaveLength(5)
  expect(counted).toEqual(listed)
  expect(counted[0]).toBeLessThanOrEqual(14)
})

describe('README.md', () => {
  test('is short, and links to every guide', () => {
    expect(read('README.md').split('\n').length).toBeLessThanOrEqual(120)
    expect(linksOf('README.md')).toEqual(expect.arrayContaining(guides.filter((guide) => !isPart(guide))))
  })

  test.each(['npm ci && npm start', 'npm ci && npm test'])('shows %s on the first screen', (command) => {
    const blocks = nodesOf('README.md').filter((node) => node.type === 'code')
    const line = blocks.find(({ value }) => value === command)?.position?.start.line
    expect(line).toBeLessThanOrEqual(25)
  })

  test('shows a screenshot of 1280 by 800 that loads quickly', () => {
    const file = join(root, 'docs/screenshot.png')
    const header = readFileSync(file)
    expect([header.readUInt32BE(16), header.readUInt32BE(20)]).toEqual([1280, 800])
    expect(statSync(file).size).toBeLessThan(200_000)
    expect(linksOf('README.md')).toContain('docs/screenshot.png')
  })
})

test('docs/operating.md lists every variable', () => {
  const variables = read('docs/operating.md')
    .split(/^##+ /m)
    .filter((section) => /^(Variables|Traces)\n/.test(section))
  const listed = [...variables.join('').matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, name]) => name)
  expect(listed.toSorted()).toEqual(
    [...VARIABLES, 'POSTGRES_PASSWORD', 'COMPOSE_PROFILES', 'INLET_IMAGE'].sort(),
  )
})

test('docs/operating.md counts what of the schema is in the way of a distributed database', () => {
  const schema = read('test/contract/schema.sql')
  const tables = [...schema.matchAll(/^create table (\w+) \($.*?^\);$/gms)]
  const columnOf = (table: string) => /^ {2}project_id uuid.*/m.exec(table)?.[0]
  const bare = tables.filter(([table]) => !columnOf(table))
  const nullable = tables.filter(([table]) => /uuid,?$/.test(columnOf(table) ?? '')).map(([, name]) => name)
  const keys = schema.match(/FOREIGN KEY \(.*?\)/g) ?? []
  const bareKeys = keys.filter((key) => !key.includes('project_id'))

  const [, without, listed = ''] =
    /^\| Tables without `project_id` \| (\d+ of \d+), .* it can be null: (.*)\. \|$/m.exec(
      read('docs/operating.md'),
    ) ?? []
  expect(without).toBe(`${bare.length} of ${tables.length}`)
  expect(listed.replaceAll('`', '').split(', ')).toEqual(nullable)
  expect(read('docs/operating.md')).toContain(
    `| Foreign keys without the project | ${bareKeys.length} of ${keys.length}. `,
  )
})

describe('the commands in docs/operating.md', () => {
  test('are called as the program says', () => {
    const calls = usage().message.match(/(?<=npm run ).*?(?= \[| {2})/g) ?? []
    const known = calls.map((call) => call.replace(' --', ''))
    const commands = nodesOf('docs/operating.md').flatMap((node) =>
      node.type === 'code' || node.type === 'inlineCode' ? node.value.split('\n') : [],
    )
    const given = commands.flatMap((line) => {
      const [, script, words = ''] =
        /^npm run ([\w-]+)(?: --(?= )(.*))?$/.exec(line) ??
        /^docker compose run --rm inlet ([\w-]+)(.*)$/.exec(line) ??
        []
      return script === undefined ? [] : [`${script}${words}`.replace(/ \/\S+$/, ' FILE')]
    })
    expect([...new Set(given)].toSorted()).toEqual(known.toSorted())
  })

  test('print what it shows', () => {
    const folder = join(root, 'src')
    const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.startsWith('dashboard'))
      .map((file) => readFileSync(join(folder, file), 'utf8'))
      .join('\n')
      .toLowerCase()
    const shown = nodesOf('docs/operating.md').flatMap((node) =>
      node.type === 'code' && node.lang === 'text' ? node.value.split('\n') : [],
    )
    expect(shown.length).toBeGreaterThan(10)
    expect(shown.flatMap(fixedTexts).filter((text) => !sources.includes(text.toLowerCase()))).toEqual([])
  })
})

/** A line of output without what differs: numbers, paths, names of variables, and what is left out. */
const fixedTexts = (line: string) =>
  line
    .split(/\.\.\.|\. |: |\binl_|\b[A-Z]+_[A-Z_]+|\S*\/\S+|\d\S*/)
    .map((text) => text.replace(/^\W+|\W+$/g, ''))
    .filter((text) => text !== '')

function linksOf(document: string): string[] {
  return nodesOf(document).flatMap((node) =>
    node.type === 'link' || node.type === 'image' || node.type === 'definition' ? node.url : [],
  )
}

/** As GitHub names headings; a repeated one gets a number. */
const anchors = new Map<string, string[]>()

/** Read once for all links to the document. */
function anchorsOf(document: string): string[] {
  const known = anchors.get(document)
  if (known) return known
  const read = readAnchors(document)
  anchors.set(document, read)
  return read
}

function readAnchors(document: string): string[] {
  const seen = new Map<string, number>()
  return nodesOf(document).flatMap((node) => {
    if (node.type !== 'heading') return []
    const name = textOf(node)
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-')
    const times = seen.get(name) ?? 0
    seen.set(name, times + 1)
    return times === 0 ? name : `${name}-${times}`
  })
}

function nodesOf(document: string): Nodes[] {
  const withChildren = (node: Nodes): Nodes[] => [
    node,
    ...('children' in node ? node.children.flatMap(withChildren) : []),
  ]
  return withChildren(fromMarkdown(read(document)))
}

function textOf(node: Nodes): string {
  if ('value' in node) return node.value
  return 'children' in node ? node.children.map(textOf).join('') : ''
}

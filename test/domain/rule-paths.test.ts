import fc from 'fast-check'
import { Minimatch } from 'minimatch'
import { describe, expect, test, vi } from 'vitest'
import { matchesAny, refuseInvalidGlobs, relativePath } from '../../src/domain/rule-paths.ts'

describe('a glob', () => {
  test.each<[string, string[], string[]]>([
    ['src/**', ['src/app.ts', 'src/a/b/c.ts', 'src/.env'], ['app.ts', 'test/src/app.ts']],
    ['**/*.ts', ['app.ts', 'src/a/b.ts', '.github/x.ts'], ['app.tsx', 'src/ts']],
    ['*.md', ['README.md'], ['docs/api.md', 'README.MD']],
    ['src/*/index.ts', ['src/a/index.ts'], ['src/index.ts', 'src/a/b/index.ts']],
    ['{src,test}/**/*.{ts,tsx}', ['src/a.ts', 'test/x/y.tsx'], ['lib/a.ts', 'src/a.js']],
    ['migrations/000[1-3]_*.sql', ['migrations/0002_rules.sql'], ['migrations/0004_x.sql']],
    ['src/?.ts', ['src/a.ts', 'src/é.ts'], ['src/ab.ts']],
    ['app/(shop)/+page.ts', ['app/(shop)/+page.ts'], ['app/shop/page.ts']],
    ['#notes/*', ['#notes/a'], ['notes/a']],
    ['a/**/b/**/c', ['a/b/c', 'a/x/b/y/z/c'], ['a/c']],
  ])('%s matches files relative to the root', (glob, files, others) => {
    expect(files.filter((file) => !matchesAny(glob, [file]))).toEqual([])
    expect(others.filter((file) => matchesAny(glob, [file]))).toEqual([])
    expect(matchesAny(glob, [...others, ...files])).toBe(true)
  })

  const LONG = 'a'.repeat(500)
  test.each([
    ['stars in a name', `${'*a'.repeat(98)}*b*`, LONG],
    ['any characters and stars', `${'*?'.repeat(98)}*b*`, LONG],
    ['classes and stars', `${'*[a-z]'.repeat(32)}*b*`, LONG],
    ['folders at any depth', `${'**/a/'.repeat(38)}**/b/**`, `${'a/'.repeat(249)}a`],
    ['folders at any depth with stars', `${'**/*a*/'.repeat(23)}**/*b*/**`, `${'aa/'.repeat(166)}a`],
    ['stars in braces', `{${'*a'.repeat(40)}*b*,${'*a'.repeat(40)}*c*}`, LONG],
    ['braces in braces', `{${'{a*,a?}'.repeat(4)},x}b`, LONG],
    ['what are nested groups elsewhere', `${'*(a|*('.repeat(20)}b`, LONG],
  ])('takes a bounded time for %s', (_, glob, file) => {
    const before = process.cpuUsage()
    expect(matchesAny(glob, [file])).toBe(false)
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1000).toBeLessThan(200)
  })

  test.each(['[a-z]*', '*', '{a,b}', '[!a-z]?'])(
    'that begins with %s is not compiled for others',
    (start) => {
      const globs = Array.from({ length: 100 }, (_, n) => `${start}-${n}/**/${'folder/**/'.repeat(8)}*.ts`)
      expect(compiledFor(globs, ['src/app.ts', 'docs/README.md'])).toBe(0)
      expect(
        compiledFor(globs, ['b-1/folder/'.repeat(8), `a-7/${'folder/'.repeat(8)}app.ts`]),
      ).toBeGreaterThan(0)
    },
  )

  test('matches exactly what minimatch does, of any parts', () => {
    const part = fc.constantFrom(
      'a',
      'b',
      'ab',
      '*',
      '**',
      '?',
      '/',
      '[ab]',
      '[!a]',
      '[]a]',
      '[^]b]',
      '[[:alpha:]-]',
      '[',
      ']',
      '{a,b}',
      '{a/b,*}',
      '{b',
      ',',
      '}',
      '.',
    )
    const file = fc
      .array(fc.constantFrom('a', 'b', '/', 'ab', '.a'), { maxLength: 8 })
      .map((parts) => relativePath(parts.join('').replace(/\/+/g, '/')))
    const glob = fc.array(part, { minLength: 1, maxLength: 8 }).map((parts) => parts.join(''))
    const options = { dot: true, nocomment: true, nonegate: true, noext: true, platform: 'linux' } as const
    fc.assert(
      fc.property(glob, file, (pattern, path) => {
        fc.pre(isGlob(pattern) && path !== '')
        expect(matchesAny(pattern, [path])).toBe(new Minimatch(pattern, options).match(path))
      }),
      { numRuns: 5_000 },
    )
  })

  test.each<[string, string[], string[]]>([
    ['[]a]x', [']x', 'ax'], ['x', 'a]x', '[]a]x']],
    ['[!]a]x', ['bx', '!x'], [']x', 'ax']],
    ['[a-z]*-x', ['a-x', 'ab-c-x'], ['A-x', 'a-y', '-x']],
    ['[[:alpha:]1]-x', ['a-x', '1-x'], ['2-x']],
    ['[[]id].ts', ['[id].ts'], ['id.ts']],
    ['[{a,]}b]c', ['ac', 'bc', ']c'], ['c', 'cc']],
    ['{[,c}a{b]}', ['a}', 'b}', 'ca{b]}'], ['[a{b]}']],
  ])('%s has the classes that minimatch has', (glob, files, others) => {
    expect(isGlob(glob)).toBe(true)
    expect(files.filter((file) => !matchesAny(glob, [file]))).toEqual([])
    expect(others.filter((file) => matchesAny(glob, [file]))).toEqual([])
  })

  test.each([
    (n: number) => `packages/p${n}/**/${'abc-'.repeat(30)}*/*.{ts,tsx}`,
    (n: number) => `packages/{web,api}-${n}/**/${'abc-'.repeat(30)}*/[a-z]*.{ts,tsx}`,
  ])('of a thousand rules is not compiled where its words are not in the path', (globOf) => {
    // Compiling all of them takes half a second.
    const globs = Array.from({ length: 1_000 }, (_, n) => globOf(n))
    expect(compiledFor(globs, ['packages/a/src/app.ts', 'docs/readme.md'])).toBe(0)
  })
})

/** How many globs are compiled to find those that match. */
function compiledFor(globs: string[], files: string[]): number {
  const compile = vi.spyOn(Minimatch.prototype, 'make')
  for (const glob of globs) matchesAny(glob, files)
  const count = compile.mock.calls.length
  compile.mockRestore()
  return count
}

function isGlob(text: string): boolean {
  try {
    refuseInvalidGlobs([text])
    return true
  } catch {
    return false
  }
}

test.each([
  ['src/app.ts', 'src/app.ts'],
  ['./src/app.ts', 'src/app.ts'],
  ['/src/app.ts', 'src/app.ts'],
  ['.\\src\\app.ts', 'src/app.ts'],
  ['src/lib/', 'src/lib'],
  ['.env', '.env'],
])('the path %s is %s', (path, relative) => {
  expect(relativePath(path)).toBe(relative)
})

describe('what is no glob', () => {
  test.each([
    ['src\\*.ts', 'must have / between folders'],
    ['!src/**', 'must not begin with !'],
    ['/src/**', 'must be relative to the root of the repository'],
    ['src/', 'end it with /**'],
    ['../other/**', 'must not contain empty folders, . or ..'],
    ['./src/**', 'must not contain empty folders, . or ..'],
    ['src//*.ts', 'must not contain empty folders, . or ..'],
    ['src/{a,b', 'has a { or [ that is not closed'],
    ['src/[a-z', 'has a { or [ that is not closed'],
    ['a\nb', 'must be one line'],
    ['{a,b}{a,b}{a,b}{a,b}{a,b}', 'must stand for at most 20 globs'],
    ['{1..1000}{1..1000}', 'must stand for at most 20 globs'],
  ])('is refused in words: %j', (glob, words) => {
    const error = { path: '/paths/1', code: 'invalid_glob', message: expect.stringContaining(words) }
    expect(refusalOf(['src/**', glob])).toMatchObject({
      code: 'validation_failed',
      extras: { errors: [error] },
    })
  })

  test.each(['**', '*', 'a', '.github/**', 'a.b/..c/d..', 'src/[[]id].ts', 'x}y]z', '{a,{b,c}}/**'])(
    'accepts %s',
    (glob) => {
      expect(refusalOf([glob])).toBeUndefined()
    },
  )
})

function refusalOf(globs: string[]): unknown {
  try {
    refuseInvalidGlobs(globs)
  } catch (error) {
    return error
  }
}

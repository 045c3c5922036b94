import type { ElementContent, Root } from 'hast'
import { describe, expect, test } from 'vitest'
import { linkReferences } from '../../../src/dashboard/markdown/link-references.ts'
import { parseMarkdown } from '../../../src/dashboard/markdown/parse.ts'

const ITEM = 'https://codehost.example/acme/app/pull/7'

describe('references in the text of an item', () => {
  test.each([
    ['See #12.', { '#12': '/acme/app/issues/12' }],
    [
      '(#1), #2: *#3*',
      { '#1': '/acme/app/issues/1', '#2': '/acme/app/issues/2', '#3': '/acme/app/issues/3' },
    ],
    ['cc @ada, @bob-2.', { '@ada': '/ada', '@bob-2': '/bob-2' }],
    ['> quoted by @ada', { '@ada': '/ada' }],
    ['- [ ] list of #4', { '#4': '/acme/app/issues/4' }],
    ['# #5 in a heading', { '#5': '/acme/app/issues/5' }],
  ])('are links to the code host: %s', (text, expected) => {
    const links = Object.entries(expected).map(([name, path]) => [name, `https://codehost.example${path}`])
    expect(linksIn(text)).toEqual(links)
  })

  test.each([
    '`#12` and `@ada`',
    '    #12 @ada',
    '```\n#12 @ada\n```',
    'a#12, #12a, ##12, &#12;, acme/other#12, #1234567890, #-1, # 12',
    'me@ada.example, @octokit/rest, foo@ada, @ada@social.example, @1.2.3, @-ada',
    'a/#12 and https://x.example/#12 and [the #12](https://x.example/)',
  ])('are not linked where they are something else: %s', (text) => {
    expect(linksIn(text).filter(([, href]) => href.startsWith('https://codehost.example'))).toEqual([])
  })

  test('stay text without the URL of an issue or pull request', () => {
    for (const url of [null, '', 'javascript:alert(1)//a/b/issues/1', 'https://codehost.example/acme/app'])
      expect(linksIn('#12 @ada', url)).toEqual([])
  })

  test('link to a code host below a path', () => {
    expect(linksIn('#12 @ada', 'https://example.org/git/acme/app/issues/7')).toEqual([
      ['#12', 'https://example.org/git/acme/app/issues/12'],
      ['@ada', 'https://example.org/git/ada'],
    ])
  })

  test('are linked up to a limit, and no text is lost', () => {
    const text = '#1 '.repeat(2_000).trim()
    expect(linksIn(text)).toHaveLength(500)
    expect(textOf(chunksOf(text))).toBe(text)
  })
})

function chunksOf(text: string, url: string | null = ITEM): Root[] {
  const parsed = parseMarkdown(text)
  if (!('chunks' in parsed)) throw new Error(parsed.plainReason)
  return linkReferences(parsed.chunks, url)
}

const nodesOf = (node: Root | ElementContent): (Root | ElementContent)[] => [
  node,
  ...('children' in node ? (node.children as ElementContent[]).flatMap(nodesOf) : []),
]

const textOf = (chunks: Root[]) =>
  chunks
    .flatMap(nodesOf)
    .map((node) => (node.type === 'text' ? node.value : ''))
    .join('')

const linksIn = (text: string, url?: string | null): [string, string][] =>
  chunksOf(text, url)
    .flatMap(nodesOf)
    .flatMap((node) =>
      node.type === 'element' && node.tagName === 'a'
        ? [[textOf([{ type: 'root', children: [node] }]), String(node.properties.href)] as [string, string]]
        : [],
    )

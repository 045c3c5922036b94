import type { Root } from 'hast'
import { describe, expect, test } from 'vitest'
import { MAX_NODES, type Parsed, parseMarkdown } from '../../../src/dashboard/markdown/parse.ts'

const chunksOf = (parsed: Parsed): Root[] => ('chunks' in parsed ? parsed.chunks : [])
const blocksOf = (text: string) => chunksOf(parseMarkdown(text)).flatMap(({ children }) => children)
const TOO_COMPLEX = { plainReason: 'too-complex' }

describe('Markdown in the dashboard', () => {
  test('supports tables, strikethrough and autolinks', () => {
    const [paragraph, , table] = blocksOf('~~old~~ https://a.example\n\n| a |\n| - |\n| b |')
    expect(paragraph).toMatchObject({
      tagName: 'p',
      children: [
        { tagName: 'del' },
        { value: ' ' },
        { tagName: 'a', properties: { href: 'https://a.example' } },
      ],
    })
    expect(table).toMatchObject({ tagName: 'table' })
  })

  test('renders HTML as text, inline and as a block', () => {
    const kinds = JSON.stringify(blocksOf('a <b onclick=x>b</b>\n\n<script>alert(1)</script>'))
    expect(kinds).toContain('<script>alert(1)</script>')
    expect(kinds).toContain('<b onclick=x>')
    expect(kinds).not.toContain('"raw"')
    expect(kinds).not.toContain('"tagName":"b"')
  })

  test.each([
    ['https://a.example/?x=javascript:y', 'https://a.example/?x=javascript:y'],
    ['mailto:ada@a.example', 'mailto:ada@a.example'],
    ['/tasks/1:2', '/tasks/1:2'],
    ['JavaScript:alert(1)', ''],
    ['data:text/html,x', ''],
    ['vbscript:x', ''],
  ])('allows only safe URLs: %s', (address, href) => {
    for (const text of [`[a](${address})`, `[a]\n\n[a]: ${address}`])
      expect(blocksOf(text)[0]).toMatchObject({ children: [{ properties: { href } }] })
    expect(blocksOf(`![a](${address})`)[0]).toMatchObject({ children: [{ properties: { src: href } }] })
  })

  test('is too complex when short rows are padded to a wide table', () => {
    const columns = 300
    const table = `${'|a'.repeat(columns)}\n${'|-'.repeat(columns)}\n${'|b\n'.repeat(300)}`
    expect(parseMarkdown(table)).toEqual(TOO_COMPLEX)
  })

  test('is too complex when many references repeat a long URL', () => {
    const address = `https://a.example/${'x'.repeat(2_000)}`
    expect(parseMarkdown(`${'[a] '.repeat(1_000)}\n\n[a]: ${address}`)).toEqual(TOO_COMPLEX)
    expect(blocksOf(`${'[a] '.repeat(10)}\n\n[a]: ${address}`)).toHaveLength(1)
  })

  test('is too complex above the limits of nodes and depth', () => {
    expect(parseMarkdown('*a* '.repeat(MAX_NODES / 2))).toEqual(TOO_COMPLEX)
    expect(parseMarkdown(`${'> '.repeat(200)}deep`)).toEqual(TOO_COMPLEX)
    expect(parseMarkdown(`${'['.repeat(50)}fine`)).toHaveProperty('chunks')
  })

  test('is split into chunks of whole blocks', () => {
    const text = 'A *paragraph* of `some` parts.\n\n'.repeat(300)
    const chunks = chunksOf(parseMarkdown(text))
    expect(chunks.length).toBeGreaterThan(3)
    const paragraphs = chunks.flatMap(({ children }) => children).filter(({ type }) => type === 'element')
    expect(paragraphs).toHaveLength(300)
  })
})

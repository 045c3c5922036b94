import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { concat, packTar, type TarEntry, unpackTar } from '../../src/lib/tar.ts'

const CONTENTS = {
  'folder/': '',
  'folder/empty': '',
  'folder/one block': 'x'.repeat(512),
  'folder/more': 'y'.repeat(1_300),
}

describe('an archive', () => {
  test('has the entries that were packed, however its bytes arrive', async () => {
    const bytes = await concat(packTar(entries()))
    for (const size of [1, 100, 512, 5_000]) expect(await contentsOf(inPieces(bytes, size))).toEqual(CONTENTS)
  })

  test('can be read by tar', async () => {
    const input = await concat(packTar(entries()))
    expect(execFileSync('tar', ['-tf', '-'], { input, encoding: 'utf8' }).trim().split('\n')).toEqual(
      Object.keys(CONTENTS),
    )
    expect(execFileSync('tar', ['-xOf', '-', 'folder/more'], { input, encoding: 'utf8' })).toBe(
      CONTENTS['folder/more'],
    )
  })

  test('that ends too early is refused, wherever it ends', async () => {
    const bytes = await concat(packTar(entries()))
    for (const end of [0, 100, 512, 1_500, 2_048, 3_000, bytes.length - 1_024]) {
      await expect(contentsOf(inPieces(bytes.subarray(0, end), 512))).rejects.toThrow('It ends too early.')
    }
  })

  test.each([
    ['text', Buffer.from('not an archive '.repeat(100))],
    ['bytes', Buffer.alloc(1_024, 0x90)],
  ])('that is something else is refused: %s', async (_, bytes) => {
    await expect(contentsOf(inPieces(bytes, 512))).rejects.toThrow('It is not a valid archive.')
  })

  test('has no paths that would need a second header', async () => {
    const long = packTar(entries({ [`${'a'.repeat(120)}/${'b'.repeat(120)}`]: '' }))
    await expect(concat(long)).rejects.toThrow('too long')
  })
})

async function* entries(contents: Record<string, string> = CONTENTS): AsyncGenerator<TarEntry> {
  for (const [path, text] of Object.entries(contents)) {
    yield { path, size: text.length, content: inPieces(Buffer.from(text), 200) }
  }
}

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

async function contentsOf(bytes: AsyncIterable<Buffer>): Promise<Record<string, string>> {
  const contents: Record<string, string> = {}
  for await (const { path, content } of unpackTar(bytes)) contents[path] = (await concat(content)).toString()
  return contents
}

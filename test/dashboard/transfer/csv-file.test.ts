import { describe, expect, test } from 'vitest'
import { csvText, readCsv } from '../../../src/dashboard/transfer/csv-file.ts'
import { BYTE_ORDER_MARK, csvLine } from '../../../src/lib/csv.ts'

const read = (text: string | Uint8Array) => {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
  return readCsv('tasks.csv', bytes.slice().buffer)
}

describe('a CSV file', () => {
  test('is read with quotes, separators and line ends in cells', () => {
    const { columns, rows } = read('\uFEFFTitle,Notes\r\n"One, ""two""","a\r\nb"\r\nThree,\r\n')
    expect(columns).toEqual(['Title', 'Notes'])
    expect(rows).toEqual([
      { number: 2, cells: ['One, "two"', 'a\r\nb'] },
      { number: 3, cells: ['Three', ''] },
    ])
  })

  test.each([
    [';', 'Title;Notes\nOne;a\n'],
    ['a tab', 'Title\tNotes\nOne\ta\n'],
    ['CR', 'Title,Notes\rOne,a\r'],
  ])('can be separated by %s', (_, text) => {
    expect(read(text).rows.map(({ cells }) => cells)).toEqual([['One', 'a']])
  })

  test.each([
    ['utf-16le', true],
    ['utf-16be', true],
    ['utf-16le', false],
    ['utf-16be', false],
  ])('is read in the encoding of "Unicode text": %s, with a byte order mark: %s', (encoding, hasMark) => {
    const units = [...Buffer.from(`${hasMark ? '\uFEFF' : ''}Title,Notes\nÜber 日本,a\n`, 'utf16le')]
    const bytes = Uint8Array.from(
      encoding === 'utf-16le' ? units : units.map((_, index) => units[index ^ 1] ?? 0),
    )
    const { columns, rows, warnings } = read(bytes)
    expect([columns, rows[0]?.cells, warnings]).toEqual([['Title', 'Notes'], ['Über 日本', 'a'], []])
  })

  test('leaves out empty lines, and keeps the numbers of a spreadsheet', () => {
    expect(read('Title,Notes\n\nOne,a\n,\nTwo,b').rows.map(({ number }) => number)).toEqual([3, 5])
  })

  test('has the apostrophe of an export removed, and other formulas as text', () => {
    const { rows } = read(`Title,Notes\n'=1+1,=2+2\n'tis,''=x\n`)
    expect(rows.map(({ cells }) => cells)).toEqual([
      ['=1+1', '=2+2'],
      [`'tis`, `'=x`],
    ])
  })

  test.each(['=1+1', "'=1+1", "''＠a", '-\n"b", c\r\n', '\t', "'tis", `${'"=\n'.repeat(21_845)}=`])(
    'that the service has exported has the same text: %j',
    (text) => {
      const exported = BYTE_ORDER_MARK + csvLine(['title', 'notes']) + csvLine(['One', text])
      expect(read(exported).rows[0]?.cells[1]).toBe(text)
    },
  )

  test('has errors at rows with too many cells, and where a quote is not closed', () => {
    const { rows } = read('Title,Notes\nOne,a,b\nTwo\n"Three,c\nFour,d')
    expect(rows.map(({ number, error }) => [number, error])).toEqual([
      [2, 'has 3 cells, but there are 2 columns'],
      [3, undefined],
      [4, 'has a quote that is not closed'],
    ])
  })

  test('with a cell of 65,536 characters keeps all of them', () => {
    const long = 'ä"\n'.repeat(21_845)
    expect(read(`Title,Notes\nOne,"${long.replaceAll('"', '""')}"\n`).rows[0]?.cells[1]).toBe(long)
  })

  test('in another encoding is read as that of Windows, with a warning', () => {
    const { rows, warnings } = read(new Uint8Array([...Buffer.from('Title\nCaf'), 0xe9, 10]))
    expect(rows[0]?.cells).toEqual(['Café'])
    expect(warnings).toEqual(['The file is not UTF-8. Check that letters with accents are right.'])
  })

  test('names columns without a name', () => {
    expect(read('Title,,Notes\nOne,a,b').columns).toEqual(['Title', 'Column 2', 'Notes'])
  })

  test('without rows has none', () => {
    expect(read('').rows).toEqual([])
    expect(read('Title,Notes\n').rows).toEqual([])
  })

  test('that is written can be read again, and runs no formula', () => {
    const text = csvText(['Title', 'error'], [['=1+1', 'a "b", c']])
    expect(text).toBe('\uFEFFTitle,error\r\n"\'=1+1","a ""b"", c"\r\n')
    expect(read(text).rows[0]?.cells).toEqual(['=1+1', 'a "b", c'])
  })
})

import Papa from 'papaparse'

/** The rows of a CSV file below its header, as text. */
export interface CsvFile {
  name: string
  columns: string[]
  rows: CsvRow[]
  /** What the user should know before the import. */
  warnings: string[]
}

export interface CsvRow {
  /** As spreadsheets number rows: the header is the first. */
  number: number
  /** One for each column. */
  cells: string[]
  /** Why the row cannot be read, if it cannot. */
  error?: string
}

export const MAX_FILE_BYTES = 100 * 1024 * 1024

/** Reads CSV with any of the usual separators, line ends and quotes, in UTF-8, UTF-16, or the encoding of Windows. */
export function readCsv(name: string, bytes: ArrayBuffer): CsvFile {
  const { text, warnings } = decoded(bytes)
  // Empty lines would count against a separator; the rows keep them, because they have numbers.
  const { meta } = Papa.parse<string[]>(text, { preview: 50, skipEmptyLines: 'greedy' })
  const { data, errors } = Papa.parse<string[]>(text, { delimiter: meta.delimiter })
  const lines = data.map((cells, index) => ({ cells, number: index + 1 }))
  const [header, ...others] = lines.filter(({ cells }) => cells.some((cell) => cell.trim() !== ''))
  if (!header) return { name, columns: [], rows: [], warnings }
  const width = Math.max(header.cells.length, 1)
  const columns = header.cells.map((cell, index) => cell.trim() || `Column ${index + 1}`)
  const unclosed = errors.find(({ type }) => type === 'Quotes')
  const rows = others.map(({ cells, number }): CsvRow => {
    const isBroken = unclosed?.row !== undefined && number - 1 >= unclosed.row
    const extra = cells.slice(width).some((cell) => cell !== '')
    return {
      number,
      cells: Array.from({ length: width }, (_, index) => withoutApostrophe(cells[index] ?? '')),
      ...(isBroken && { error: 'has a quote that is not closed' }),
      ...(!isBroken && extra && { error: `has ${cells.length} cells, but there are ${width} columns` }),
    }
  })
  return { name, columns, rows, warnings }
}

function decoded(bytes: ArrayBuffer): { text: string; warnings: string[] } {
  const utf16 = utf16Of(new Uint8Array(bytes))
  if (utf16) return { text: new TextDecoder(utf16).decode(bytes), warnings: [] }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), warnings: [] }
  } catch {
    const text = new TextDecoder('windows-1252').decode(bytes)
    return { text, warnings: ['The file is not UTF-8. Check that letters with accents are right.'] }
  }
}

/** How many bytes tell the encoding of a file without a byte order mark. */
const SAMPLE_BYTES = 1_000

/** Spreadsheets write it as "Unicode text". Half of the bytes of most texts are zero then, and none in other encodings. */
function utf16Of(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  const zeros = [0, 0]
  bytes.subarray(0, SAMPLE_BYTES).forEach((byte, index) => {
    if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1
  })
  const [even = 0, odd = 0] = zeros
  if (even === odd) return undefined
  return odd > even ? 'utf-16le' : 'utf-16be'
}

/** As in the exports of the service: an apostrophe is put before it. */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/

const withoutApostrophe = (cell: string) =>
  cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell

/** Rows as CSV, for a file to download; formulas are text. */
export const csvText = (columns: string[], rows: string[][]): string =>
  `\uFEFF${Papa.unparse({ fields: columns, data: rows }, { escapeFormulae: FORMULA, newline: '\r\n' })}\r\n`

export type CsvCell = string | number | boolean | null

/** At the beginning of a file, spreadsheets take it as UTF-8. */
export const BYTE_ORDER_MARK = '\uFEFF'

/**
 * A spreadsheet takes a cell that begins with one of these as a formula; Japanese ones also the wide forms. Apostrophes
 * before it count as well: whoever removes the one of an export gets the same text.
 */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/

/** A cell with one of these is quoted; spreadsheets in some languages separate cells by semicolons. */
const SPECIAL = /[",;\t\r\n]|^\s|\s$/

/** A line of CSV (RFC 4180). A text that would be a formula begins with an apostrophe, which marks it as text. */
export const csvLine = (cells: readonly CsvCell[]): string => `${cells.map(cellOf).join()}\r\n`

function cellOf(value: CsvCell): string {
  if (typeof value !== 'string') return value === null ? '' : String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

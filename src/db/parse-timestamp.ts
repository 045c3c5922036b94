const FORM =
  /^(\d{4,})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d+))?([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?( BC)?$/

/**
 * A time as PostgreSQL writes it, in whatever time zone its sessions have. `new Date` reads the year 1 as 2001, and
 * reads neither the offsets with seconds that zones had before 1900, nor the year before the year 1.
 */
export function parseTimestamp(text: string): Date {
  const parts = FORM.exec(text)
  if (!parts) throw new Error(`Not a time of PostgreSQL in the style ISO: ${text}`)
  const [year = 0, month = 0, day, hours = 0, minutes = 0, seconds = 0] = parts.slice(1, 7).map(Number)
  const [fraction = '', sign, ...offset] = parts.slice(7, 12)
  const time = new Date(0)
  time.setUTCFullYear(parts[12] ? 1 - year : year, month - 1, day)
  time.setUTCHours(hours, minutes, seconds, Number(fraction.slice(0, 3).padEnd(3, '0')))
  const [offsetHours = 0, offsetMinutes = 0, offsetSeconds = 0] = offset.map((part) => Number(part ?? 0))
  const offsetMs = ((offsetHours * 60 + offsetMinutes) * 60 + offsetSeconds) * 1_000
  return new Date(time.getTime() - (sign === '-' ? -offsetMs : offsetMs))
}

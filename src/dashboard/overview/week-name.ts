let format: Intl.DateTimeFormat | undefined

/** "14 Sep": weeks begin on Monday, UTC. */
export function weekName(start: string): string {
  format ??= new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
  return format.format(new Date(start))
}

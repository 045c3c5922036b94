/** The lowest UUIDv7 of a time: every id created then or later is greater or equal. */
export function firstIdOf(time: Date): string {
  const hex = Math.max(0, time.getTime()).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

/** The creation time of a UUIDv7; undefined for other versions. */
export function timeOf(id: string): Date | undefined {
  return id[14] === '7' ? new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)) : undefined
}

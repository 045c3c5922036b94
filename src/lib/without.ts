/** The object without some of its members. */
export function without<T extends object, Name extends keyof T>(
  value: T,
  names: readonly Name[],
): Omit<T, Name> {
  const removed: readonly PropertyKey[] = names
  // Cast: every member but the removed ones is copied.
  return Object.fromEntries(Object.entries(value).filter(([name]) => !removed.includes(name))) as Omit<
    T,
    Name
  >
}

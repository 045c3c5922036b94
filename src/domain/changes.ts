/** The `changes` of an activity: the members that differ, with old and new value. */
export function changesBetween<T extends object, Name extends keyof T & string>({
  before,
  after,
  names,
}: {
  before: T
  after: T
  names: readonly Name[]
}): { [name in Name]?: { from: T[name]; to: T[name] } } {
  const changed = names.filter((name) => before[name] !== after[name])
  return Object.fromEntries(changed.map((name) => [name, { from: before[name], to: after[name] }])) as {
    [name in Name]?: { from: T[name]; to: T[name] }
  }
}

export const isNoChange = (changes: object) => Object.keys(changes).length === 0

/** More tasks in between are only counted. */
const MAX_NAMED = 4

/**
 * Why a task can't be blocked by another one, in words.
 * @param titles of the tasks of the cycle: each is blocked by the next, and the last by the first, which is the task.
 */
export function cycleText(titles: string[]): string {
  const [task = '', blocker = '', ...others] = titles.map((title) => `“${title}”`)
  const named = others.length > MAX_NAMED ? others.slice(0, MAX_NAMED - 1) : others
  const between = others.length - named.length
  const links = [...named, ...(between > 0 ? [`${between.toLocaleString()} more tasks`] : []), task].join(
    ', which is blocked by ',
  )
  return `${task} can’t be blocked by ${blocker}, because ${blocker} is blocked by ${links}. Remove one of these dependencies first.`
}

/** How many titles of a cycle the text names at most. */
export const MAX_TITLES = MAX_NAMED + 2

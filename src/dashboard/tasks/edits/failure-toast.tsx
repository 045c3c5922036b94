import { isUnreachable } from '../../api/problem.ts'
import { offerRetry } from '../../components/offer-retry.tsx'
import { toast } from '../../components/toast.ts'
import type { Failure } from './bulk.ts'
import { failuresText, type Titled, titlesText } from './toast-text.ts'

interface Failures<T extends Titled> {
  verb: 'update' | 'delete' | 'merge'
  failures: Failure<T>[]
  count: number
  retry(tasks: T[]): unknown
}

/** Says what was not saved. What did not reach the service is kept until it is sent again or dismissed. */
export function showFailures<T extends Titled>({ verb, failures, count, retry }: Failures<T>): void {
  const [unsent, refused] = split(failures)
  if (refused.length > 0) toast.error(failureTitle(verb, { failures: refused, count }), failuresText(refused))
  if (unsent.length === 0) return
  const tasks = unsent.map(({ item }) => item)
  void offerRetry({ title: 'Not saved', text: `${titlesText(tasks)}.` }).then(
    (shouldRetry) => shouldRetry && retry(tasks),
  )
}

const split = <T,>(failures: Failure<T>[]) => {
  const { unsent = [], refused = [] } = Object.groupBy(failures, ({ problem }) =>
    isUnreachable(problem) ? 'unsent' : 'refused',
  )
  return [unsent, refused] as const
}

interface FailureCount {
  failures: unknown[]
  count: number
}

export function failureTitle(verb: string, { failures, count }: FailureCount): string {
  if (count === 1) return `Couldn't ${verb} the task`
  return `Couldn't ${verb} ${failures.length.toLocaleString()} of ${count.toLocaleString()} tasks`
}

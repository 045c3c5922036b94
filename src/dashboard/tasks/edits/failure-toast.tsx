import { notifications } from '@mantine/notifications'
import { toast } from '../../components/toast.ts'
import { messageWithButton } from '../../components/undo.tsx'
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
  const id = notifications.show({
    title: navigator.onLine ? "Not saved: Inlet can't be reached" : 'Not saved: you are offline',
    message: messageWithButton(titlesText(tasks), {
      label: 'Retry',
      onClick() {
        notifications.hide(id)
        retry(tasks)
      },
    }),
    color: 'red',
    autoClose: false,
    withBorder: true,
    role: 'alert',
  })
}

const split = <T,>(failures: Failure<T>[]) => {
  const { unsent = [], refused = [] } = Object.groupBy(failures, ({ problem }) =>
    problem.code === 'unreachable' ? 'unsent' : 'refused',
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

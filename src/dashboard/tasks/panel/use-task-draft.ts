import type { Task } from '../../api/queries.ts'
import { useDraft } from '../../components/use-draft.ts'
import type { Seen } from './use-task-edit.ts'

/** A text of a task while it is being written, together with what its writer saw of the task when that began. */
export function useTaskDraft(task: Task, field: 'title' | 'description' | 'notes') {
  const [text, setText] = useDraft(`${field}:${task.id}`)
  const [seen, setSeen] = useDraft(`seen-${field}:${task.id}`)
  const see = ({ version, [field]: value }: Task) => setSeen(JSON.stringify({ version, [field]: value }))

  return {
    /** Undefined while nothing is being written. */
    text,
    seen: seen ? (JSON.parse(seen) as Seen) : task,
    begin() {
      see(task)
      setText(task[field] ?? '')
    },
    write: setText,
    end() {
      setText(undefined)
      setSeen(undefined)
    },
    /** Ends what was saved; what was typed while it was on its way stays, on top of the task as it is now. */
    settle(sent: string, saved: Task) {
      setText((now) => (now === sent ? undefined : now))
      see(saved)
    },
  }
}

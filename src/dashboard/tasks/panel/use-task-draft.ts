import type { Task } from '../../api/queries.ts'
import { useDraft } from '../../components/use-draft.ts'
import type { Seen } from './use-task-edit.ts'

/** The draft of a text field, with the version of the task it is based on. */
export function useTaskDraft(task: Task, field: 'title' | 'description' | 'notes') {
  const [text, setText] = useDraft(`${field}:${task.id}`)
  const [seen, setSeen] = useDraft(`seen-${field}:${task.id}`)
  const saveSeen = ({ version, [field]: value }: Task) => setSeen(JSON.stringify({ version, [field]: value }))

  return {
    /** Undefined when there is no draft. */
    text,
    seen: seen ? (JSON.parse(seen) as Seen) : task,
    write(next: string) {
      if (text === undefined) saveSeen(task)
      setText(next)
    },
    discard() {
      setText(undefined)
      setSeen(undefined)
    },
    /** Ends the draft after saving, and returns whether it did; text typed meanwhile stays, based on the saved task. */
    complete(sent: string, saved: Task): boolean {
      let isSame = true
      setText((current) => {
        isSame = current === sent
        return isSame ? undefined : current
      })
      saveSeen(saved)
      return isSame
    },
  }
}

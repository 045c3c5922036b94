import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { TaskListItem } from '../api/queries.ts'
import { mergeLock } from '../tasks/managed.ts'
import { byReports, detailsText } from '../tasks/reports/merging.ts'
import { similarQuery } from '../tasks/reports/queries.ts'
import { useMerge } from '../tasks/reports/use-merge.ts'
import { taskOption, useFoundTasks } from './found-tasks.ts'
import { OptionList } from './option-list.tsx'
import { type StepProps, tasksText } from './property-steps.tsx'

/** Each is one request. */
const MAX_MERGED = 50

/** Picks the task that the others become reports of: one of them, a similar one, or one that is found by words. */
export function MergeStep({ tasks: given, step: _, actions: __, ...rest }: StepProps) {
  const [text, setText] = useState('')
  const { merge } = useMerge()
  const tasks = given.filter(({ mergedInto }) => mergedInto === null)
  // What has reports can't become one.
  const target = tasks.find(({ reports }) => reports > 1)
  const [first, ...others] = tasks
  const isOne = others.length === 0
  const similar = useQuery({ ...similarQuery(first?.id ?? ''), enabled: isOne && first !== undefined })
  const similarTasks = similar.data?.data ?? []
  const ofSimilar = new Map(similarTasks.map(({ task, ...feedback }) => [task.id, feedback]))
  const found = useFoundTasks(text.trim(), first?.projectId)
  const tooMany = tasks.length > MAX_MERGED ? `Select at most ${MAX_MERGED} tasks to merge.` : undefined
  const refusal = mergeLock(given) ?? tooMany

  const toOption = (group: string) => (target: TaskListItem) => ({
    ...taskOption(target, {
      details: detailsText(target, ofSimilar.get(target.id)),
      group,
      run: () =>
        void merge(
          tasks.filter(({ id }) => id !== target.id),
          target,
        ),
    }),
  })
  const selected = target ? [target] : tasks.toSorted(byReports)
  const suggested = isOne ? similarTasks.map(({ task }) => task) : selected
  const listedIds = new Set([...suggested, ...tasks].map(({ id }) => id))
  const options = [
    ...suggested.map(toOption(isOne ? 'Similar' : 'Selected')),
    ...found.tasks
      .filter(({ id, mergedInto }) => !target && mergedInto === null && !listedIds.has(id))
      .map(toOption('Tasks'))
      .map((option) => ({ ...option, isFound: true })),
  ]
  return (
    <OptionList
      {...rest}
      label="Merge into"
      placeholder={`Merge ${tasksText(refusal ? given : tasks)} into…`}
      options={refusal ? [] : options}
      text={text}
      onType={setText}
      isSettled={found.isSettled && !similar.isFetching}
      none={
        refusal ?? (text.trim() === '' ? 'Find a task of the same project by words or #number.' : undefined)
      }
    />
  )
}

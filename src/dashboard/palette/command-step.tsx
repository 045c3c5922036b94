import { useState } from 'react'
import { useLocation } from 'wouter'
import { useMe } from '../session/session.ts'
import { listPathOf } from '../tasks/open-task.ts'
import { useMergeEqual } from '../tasks/triage/use-merge-equal.ts'
import { taskOption, useFoundTasks } from './found-tasks.ts'
import { OptionList } from './option-list.tsx'
import { usePages, usePersonPages } from './pages.ts'
import type { StepProps } from './property-steps.tsx'
import { taskCommands } from './task-commands.ts'
import { useAppCommands } from './use-app-commands.ts'
import { useListCommands } from './use-list-commands.ts'

/** What can be done with the tasks, pages to go to, and tasks found by words or number. */
export function CommandStep({ tasks, actions, onStep, onClose }: StepProps) {
  const [text, setText] = useState('')
  const [pathname, navigate] = useLocation()
  const username = useMe().me?.user?.username
  const merge = useMergeEqual()
  const mergeEqual = listPathOf(pathname) === '/triage' ? merge : undefined
  const changes = taskCommands({ tasks, actions, username, mergeEqual, onStep })
  const ofList = useListCommands(onStep)
  const ofApp = useAppCommands(onStep)
  const pages = usePages()
  const people = usePersonPages(text.trim() !== '')
  const found = useFoundTasks(text.trim())
  const foundTasks = found.tasks.map((task) => ({
    ...taskOption(task, { group: 'Tasks', run: () => navigate(`/tasks/${task.id}`) }),
    isFound: true,
  }))
  return (
    <OptionList
      label="Command palette"
      placeholder="Go to, do, or find a task by words or #number"
      options={[...changes, ...ofList, ...ofApp, ...pages, ...people.options, ...foundTasks]}
      text={text}
      onType={setText}
      isSettled={found.isSettled && people.isSettled}
      onClose={onClose}
    />
  )
}

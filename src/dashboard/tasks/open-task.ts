import { useLocationProperty } from 'wouter/use-browser-location'

/** The pages with a list of tasks, where a task opens beside it. */
export type ListPath = '/tasks' | '/triage'

/** The id of the open task. The address changes at once; the panel follows when it is rendered. */
export const openTaskId = () => /^\/(?:tasks|triage)\/([^/]+)/.exec(location.pathname)?.[1]

export const listPathOf = (pathname: string): ListPath =>
  pathname.startsWith('/triage') ? '/triage' : '/tasks'

/** Like `useParams`, which waits for the panel. */
export const useOpenTaskId = () => useLocationProperty(openTaskId)

import { useLocationProperty } from 'wouter/use-browser-location'

/** The id of the open task. The address changes at once; the panel follows when it is rendered. */
export const openTaskId = () => /^\/tasks\/([^/]+)/.exec(location.pathname)?.[1]

/** Like `useParams`, which waits for the panel. */
export const useOpenTaskId = () => useLocationProperty(openTaskId)

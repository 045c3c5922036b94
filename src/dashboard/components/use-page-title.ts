import { useDocumentTitle } from '@mantine/hooks'

/** What the browser calls a page in its tabs and its history. */
export const usePageTitle = (title: string) => useDocumentTitle(`${title} · Inlet`)

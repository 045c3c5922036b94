import { toast } from '../components/toast.ts'
import { writeToClipboard } from '../components/use-copy.ts'
import { plural } from '../lib/plural.ts'

/** Copies the addresses of tasks, one a line. */
export async function copyLinks(tasks: { id: string }[]): Promise<void> {
  const links = tasks.map(({ id }) => `${location.origin}/tasks/${id}`)
  if (await writeToClipboard(links.join('\n')))
    toast.info(links.length === 1 ? 'Link copied' : `${plural(links.length, 'link')} copied`)
  else toast.info(`Couldn't copy: the browser blocked access to the clipboard. ${links[0]}`)
}

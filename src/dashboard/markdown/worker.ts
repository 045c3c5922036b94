import { parseMarkdown } from './parse.ts'

// Sent once the script is loaded, so that loading it does not count towards the deadline.
postMessage('ready')

addEventListener('message', ({ data }: MessageEvent<string>) => postMessage(parseMarkdown(data)))

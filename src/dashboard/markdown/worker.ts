import { parseMarkdown } from './parse.ts'

// Said when there is something that can answer: fetching this file counts towards no deadline.
postMessage('ready')

addEventListener('message', ({ data }: MessageEvent<string>) => postMessage(parseMarkdown(data)))

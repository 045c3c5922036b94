/** Of one text. Further ones tell nobody. */
export const MAX_MENTIONS = 20

/**
 * The usernames that a Markdown text mentions, outside code, each once and in their order: `@ada`. Usernames have no
 * capital letters, so `@Ada` is the same person.
 */
export function mentionsIn(markdown: string): string[] {
  const texts = outsideFences(markdown).flatMap((lines) => outsideSpans(lines))
  const names = texts.flatMap((text) =>
    [...text.matchAll(MENTION)].map(([, name = '']) => name.toLowerCase()),
  )
  return [...new Set(names)]
}

/** Neither part of an email address or a URL, nor of a longer word. */
const MENTION = /(?<![\p{L}\p{N}_@/.`-])@([a-z0-9-]{2,39})(?![\p{L}\p{N}_@-])/giu

/** Opens or closes a block of code, also in a quote. */
const FENCE = /^[\s>]*(`{3,}|~{3,})(.*)$/

/** The paragraphs outside fenced code. */
function outsideFences(markdown: string): string[] {
  const paragraphs: string[] = []
  let lines: string[] = []
  let fence: string | undefined
  const endParagraph = () => {
    if (lines.length > 0) paragraphs.push(lines.join('\n'))
    lines = []
  }
  for (const line of markdown.split(/\r\n?|\n/)) {
    const [, marks = '', rest = ''] = FENCE.exec(line) ?? []
    if (fence !== undefined) {
      if (marks.startsWith(fence) && rest.trim() === '') fence = undefined
    } else if (marks !== '' && !(marks.startsWith('`') && rest.includes('`'))) {
      endParagraph()
      fence = marks
    } else if (line.trim() === '') endParagraph()
    else lines.push(line)
  }
  endParagraph()
  return paragraphs
}

/** The parts of a paragraph outside code spans: between runs of as many backticks. */
function outsideSpans(paragraph: string): string[] {
  const runs = [...paragraph.matchAll(/`+/g)].map(({ index, 0: marks }) => ({ index, length: marks.length }))
  const lastOf = new Map(runs.map(({ index, length }) => [length, index]))
  const parts: string[] = []
  let start = 0
  for (let at = 0; at < runs.length; ) {
    const run = runs[at] as (typeof runs)[number]
    const isEscaped = (/\\*$/.exec(paragraph.slice(start, run.index).slice(-8))?.[0].length ?? 0) % 2 === 1
    const isClosed = !isEscaped && (lastOf.get(run.length) ?? 0) > run.index
    if (!isClosed) {
      at++
      continue
    }
    let end = at + 1
    while (runs[end]?.length !== run.length) end++
    parts.push(paragraph.slice(start, run.index))
    start = (runs[end]?.index ?? run.index) + run.length
    at = end + 1
  }
  return [...parts, paragraph.slice(start)]
}

/** Longer comments are refused by the code host. */
const MAX_LENGTH = 65_536

const CUT = '\n\n*(The rest is in Inlet.)*'

/**
 * The text of a comment that is written to the code host. It begins with an id that is not shown, so that nothing in the
 * body can hide it.
 */
export function postedText({
  id,
  authorName,
  body,
}: {
  id: string
  authorName: string
  body: string
}): string {
  const beginning = `<!-- inlet-comment ${id} -->\n**${escaped(authorName)}** wrote in Inlet:\n\n`
  const room = MAX_LENGTH - beginning.length
  if (body.length <= room) return beginning + body
  // Not between the halves of a surrogate pair.
  const cut = body.slice(0, room - CUT.length).replace(/[\ud800-\udbff]$/, '')
  return beginning + cut + CUT
}

/** The id of the comment that was written to the code host with this text. */
export const postedIdIn = (text: string): string | undefined =>
  /^<!-- inlet-comment ([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}) -->/.exec(text)?.[1]

/** A name as text: without formatting, mentions, line breaks, and characters that change the direction of others. */
const escaped = (name: string) =>
  name
    .replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[\\`*_{}[\]<>()#+\-.!|~]/g, '\\$&')
    .replaceAll('@', '@<!-- -->')

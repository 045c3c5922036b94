export interface Piece {
  kind: 'same' | 'added' | 'removed'
  text: string
}

/** More words than this a side are compared as one block: the table of a comparison grows with the square. */
const MAX_WORDS = 1_500

/** What changed between two texts, word by word (longest common subsequence). */
export function differencesOf(before: string, after: string): Piece[] {
  if (before === after) return [{ kind: 'same', text: after }]
  const a = wordsOf(before)
  const b = wordsOf(after)
  if (a.length > MAX_WORDS || b.length > MAX_WORDS) {
    return [
      { kind: 'removed', text: before },
      { kind: 'added', text: after },
    ]
  }
  const width = b.length + 1
  const longest = new Uint16Array((a.length + 1) * width)
  const at = (i: number, j: number) => longest[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const pieces: Piece[] = []
  const push = (kind: Piece['kind'], text = '') => {
    const last = pieces.at(-1)
    if (last?.kind === kind) last.text += text
    else pieces.push({ kind, text })
  }
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    if (i < a.length && a[i] === b[j]) {
      push('same', a[i++])
      j++
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) push('removed', a[i++])
    else push('added', b[j++])
  }
  return pieces
}

const wordsOf = (text: string): string[] => text.match(/\s+|[^\s]+/g) ?? []

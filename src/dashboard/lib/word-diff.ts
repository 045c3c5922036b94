export interface DiffPart {
  kind: 'same' | 'added' | 'removed'
  text: string
}

/** Longer texts are compared as one block: the table grows with the product of both lengths. */
const MAX_WORDS = 1_500

/** A word diff by longest common subsequence. */
export function diffWords(before: string, after: string): DiffPart[] {
  if (before === after) return [{ kind: 'same', text: after }]
  const a = splitWords(before)
  const b = splitWords(after)
  if (a.length > MAX_WORDS || b.length > MAX_WORDS) {
    return [
      { kind: 'removed', text: before },
      { kind: 'added', text: after },
    ]
  }
  const width = b.length + 1
  const lengths = new Uint16Array((a.length + 1) * width)
  const lengthAt = (i: number, j: number) => lengths[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        a[i] === b[j] ? lengthAt(i + 1, j + 1) + 1 : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1))
    }
  }
  const parts: DiffPart[] = []
  const push = (kind: DiffPart['kind'], text = '') => {
    const last = parts.at(-1)
    if (last?.kind === kind) last.text += text
    else parts.push({ kind, text })
  }
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    if (i < a.length && a[i] === b[j]) {
      push('same', a[i++])
      j++
    } else if (j >= b.length || (i < a.length && lengthAt(i + 1, j) >= lengthAt(i, j + 1)))
      push('removed', a[i++])
    else push('added', b[j++])
  }
  return parts
}

const splitWords = (text: string): string[] => text.match(/\s+|[^\s]+/g) ?? []

/**
 * Text as a model may read it: characters that people don't see, or that reorder what they see, are escaped, because
 * instructions can be hidden in them. Those that writing needs stay where it needs them.
 */

/** What is escaped: control and format characters, private use, unassigned, and whatever is shown as nothing. */
const HIDDEN =
  /[[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]--[\t\n\r]--[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]]/v

/** Letters that join their neighbours, in Persian for example. */
const JOINING = String.raw`[[\p{scx=Arabic}\p{scx=Syriac}\p{scx=Nko}\p{scx=Mandaic}\p{scx=Adlam}\p{scx=Hanifi_Rohingya}]&&\p{L}]`
const ARABIC_DIGIT = String.raw`[\u0660-\u0669\u06f0-\u06f9]`
const VIRAMA = String.raw`[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca\u1b44\ua9c0\u{11046}\u{11133}\u{1134d}]`
const MONGOLIAN = String.raw`[\p{Script=Mongolian}&&\p{L}]`
const HAN = String.raw`(?<=[\p{Script=Han}&&\p{L}])`
const EMOJI = String.raw`(?:\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\ufe0f)?)`

/**
 * Where they stay. Only what stands before or after a character decides, never what does not, so that a part of a text
 * keeps no more than the whole.
 */
const NEEDED: [characters: string, where: string][] = [
  // Forms of letters in Persian, Urdu, and other languages with the Arabic script.
  ['\u200c', String.raw`(?<=(?:${JOINING}|${ARABIC_DIGIT})\p{M}{0,4}).(?=${JOINING})`],
  ['\u200d', String.raw`(?<=${JOINING}\p{M}{0,4})`],
  // Forms of conjuncts in Hindi, Bengali, Malayalam, Sinhala, and other languages of India.
  ['\u200c\u200d', String.raw`(?<=\p{L}\p{M}{0,4}${VIRAMA})`],
  ['\u200c\u200d', String.raw`(?<=\p{L}\p{M}{0,4}).(?=${VIRAMA})`],
  // Forms of letters in Mongolian.
  ['\u180b\u180c\u180d\u180f', `(?<=${MONGOLIAN})`],
  ['\u180e', `(?<=${MONGOLIAN}).(?=${MONGOLIAN})`],
  // Forms of ideographs, in Japanese names for example: up to sixteen.
  ['\ufe00\ufe01\ufe02', HAN],
  [String.fromCodePoint(...Array.from({ length: 16 }, (_, index) => 0xe0100 + index)), HAN],
  // Emoji in colour or as text, and keycaps.
  ['\ufe0e\ufe0f', String.raw`(?<=[\p{Emoji}--\p{Emoji_Component}])`],
  ['\ufe0f', String.raw`(?<=[0-9#*]).(?=\u20e3)`],
  // Blanks in Braille.
  ['\u2800', String.raw`(?<=[\u2801-\u28ff])|.(?=[\u2801-\u28ff])`],
]

/** For each character of the table, the places where it stays. */
const PLACES = new Map<string, RegExp>()
for (const character of new Set(NEEDED.flatMap(([characters]) => [...characters]))) {
  const places = NEEDED.flatMap(([characters, where]) => (characters.includes(character) ? [where] : []))
  PLACES.set(character, new RegExp(places.join('|'), 'vy'))
}

/** Emoji that are joined, and flags of regions: they stay if they are known. */
const JOINED_EMOJI = new RegExp(
  String.raw`${EMOJI}(?:\u200d${EMOJI})+|\u{1f3f4}[\u{e0020}-\u{e007e}]+\u{e007f}`,
  'gv',
)

/** A copy of a JSON value in which nothing is hidden, also in names; texts without anything hidden are the same. */
export function visible<T>(value: T): T {
  // Cast: strings stay strings, and everything else keeps its shape.
  return visibleValue(value) as T
}

function visibleValue(value: unknown): unknown {
  if (typeof value === 'string') return visibleText(value)
  if (Array.isArray(value)) return value.map(visibleValue)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [visibleText(name), visibleValue(member)]),
  )
}

function visibleText(text: string): string {
  if (!HIDDEN.test(text)) return text
  const kept = inKnownEmoji(text)
  return text.replace(ALL_HIDDEN, (character, index: number) =>
    isNeeded(text, { character, index }) || kept.has(index) ? character : escaped(character),
  )
}

const ALL_HIDDEN = new RegExp(HIDDEN, 'gv')

function isNeeded(text: string, { character, index }: { character: string; index: number }): boolean {
  const places = PLACES.get(character)
  if (!places) return false
  places.lastIndex = index
  return places.test(text)
}

/** The indexes of the characters that known emoji consist of. */
function inKnownEmoji(text: string): Set<number> {
  const indexes = new Set<number>()
  if (!HAS_JOINERS.test(text)) return indexes
  for (const { 0: sequence, index } of text.matchAll(JOINED_EMOJI)) {
    if (!isKnownEmoji(sequence)) continue
    for (let offset = 0; offset < sequence.length; offset++) indexes.add(index + offset)
  }
  return indexes
}

const HAS_JOINERS = /[\u200d\u{e007f}]/v

/** Many keyboards leave out the selectors after characters that are text by default. */
const isKnownEmoji = (sequence: string) =>
  /^\p{RGI_Emoji}$/v.test(
    sequence.replace(
      /[\p{Extended_Pictographic}--\p{Emoji_Presentation}](?![\p{Emoji_Modifier}\ufe0f])/gv,
      '$&\ufe0f',
    ),
  )

/** As in JavaScript, in visible characters: `\u202e`, `\u{e0041}`. */
export function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0
  const hex = code.toString(16)
  return code > 0xffff ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`
}

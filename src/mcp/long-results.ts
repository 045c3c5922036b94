import { visible } from '../domain/visible.ts'
import { jsonPieces, jsonTextPieces } from '../lib/json-pieces.ts'
import { placeholders } from '../lib/placeholders.ts'

/** An object whose arrays may be read as they are needed. */
type InPieces<T> = {
  [Name in keyof T]: T[Name] extends (infer Item)[] ? Item[] | AsyncIterable<Item> : T[Name]
}

export interface ToolResult<T extends object = object> {
  /** Results may have more members than their schema. */
  data: InPieces<T> & { [name: string]: unknown }
  /** The same content as text, made when it is needed. */
  text(): string | Iterable<string> | AsyncIterable<string>
  /** If the result is read while it is sent: how much memory that needs. */
  memoryBytes?: number
}

/** Results with longer texts are serialized while they are sent: there can be 100 in one request. */
const MAX_WHOLE_BYTES = 64 * 1024

export type LongResults = ReturnType<typeof longResults>

/** The results of one request that are too long to be serialized in one go. They are sent in pieces. */
export function longResults() {
  const { isEmpty, asText, asObject, fill } = placeholders()
  let memoryBytes = 0

  return {
    isEmpty,
    fill,
    memoryBytes: () => memoryBytes,

    /** A text that is sent in pieces. */
    text(text: ToolResult['text'], bytes: number): string {
      memoryBytes += bytes
      return asText(() => {
        const made = text()
        // A string is an iterable of its characters.
        return jsonTextPieces(visibleItems(typeof made === 'string' ? [made] : made))
      })
    },

    /** A tool result in the form of the protocol. */
    toolResult(result: ToolResult) {
      const { data, text, memoryBytes: bytes = bytesOfTexts(data) } = result
      const isLong = result.memoryBytes !== undefined || bytes > MAX_WHOLE_BYTES
      return {
        content: [
          { type: 'text' as const, text: isLong ? this.text(text, bytes) : visible(wholeText(text())) },
        ],
        structuredContent: isLong ? asObject(() => jsonPieces(visibleMembers(data))) : visible({ ...data }),
      }
    },
  }
}

/** What is read as it is needed is made visible then. */
const visibleMembers = (data: object) =>
  Object.fromEntries(
    Object.entries(data).map(([name, member]) => [
      name,
      isAsync(member) ? visibleItems(member) : visible(member),
    ]),
  )

const isAsync = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value

async function* visibleItems<T>(items: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T> {
  for await (const item of items) yield visible(item)
}

/** Only results that are read while they are sent have texts in asynchronous pieces. */
const wholeText = (text: ReturnType<ToolResult['text']>) =>
  typeof text === 'string' ? text : [...(text as Iterable<string>)].join('')

/** Two bytes for each character, at most. */
function bytesOfTexts(value: unknown): number {
  if (typeof value === 'string') return value.length * 2
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, member) => sum + bytesOfTexts(member), 0)
}

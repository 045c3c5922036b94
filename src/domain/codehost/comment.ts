import { asRecord } from '../../lib/as-record.ts'
import { truncateUtf8 } from '../../lib/truncate-utf8.ts'
import { MAX_RECEIVED_BYTES, repaired } from '../../schemas/formats.ts'
import { authorOf, type CodehostItem, isItemNumber, secondOf, timeOf, urlOf } from './item.ts'
import { hashOf } from './task.ts'

/** A comment of the code host, independent of its format. */
export interface CodehostComment {
  /** Digits: ids may be larger than a number can be. */
  externalId: string
  /** The number of its issue or pull request. */
  number: number
  body: string
  url: string | null
  /** Null for a deleted account. */
  author: CodehostItem['author']
  createdAt: Date | null
  /** ISO 8601 to the second, the precision that the host compares. */
  updatedAt: string | null
}

/** What is stored of a comment. */
export interface StoredComment {
  id: string
  externalId: string
  taskId: string
  authorType: string
  authorName: string
  authorUrl: string | null
  externalUrl: string | null
  hostUpdatedAt: Date | null
  bodyHash: string
}

/** The code host's own name for a deleted account. */
const DELETED_ACCOUNT = 'ghost'

/**
 * Parses a comment of the code host. Texts are repaired, never rejected: NUL is removed, lone surrogates are replaced,
 * long texts truncated. Returns undefined if it is not a comment at all: then the response is invalid.
 */
export function commentOf(raw: unknown): CodehostComment | undefined {
  const { id, url, issue_url, html_url, body, user, created_at, updated_at } = asRecord(raw)
  const externalId = externalIdOf({ id, url })
  const number = numberIn(issue_url) ?? numberIn(html_url)
  if (externalId === undefined || number === undefined) return undefined
  return {
    externalId,
    number,
    body: typeof body === 'string' ? truncateUtf8(repaired(body), MAX_RECEIVED_BYTES) : '',
    url: urlOf(html_url),
    author: authorOf(user),
    createdAt: timeOf(created_at),
    updatedAt: secondOf(updated_at),
  }
}

/** Parses a page; undefined if one of its elements is not a comment. For a repeated id the later one counts. */
export function commentsOf(raw: unknown[]): CodehostComment[] | undefined {
  const byId = new Map<string, CodehostComment>()
  for (const each of raw) {
    const comment = commentOf(each)
    if (!comment) return undefined
    byId.set(comment.externalId, comment)
  }
  return [...byId.values()]
}

/** As the last part of its URL, where it is exact: parsed as a number, an id above 2^53 may be another one's. */
export function externalIdOf({ id, url }: { id?: unknown; url?: unknown }): string | undefined {
  const text = /\/comments\/(\d{1,18})$/.exec(typeof url === 'string' ? url : '')?.[1]
  if (text !== undefined) return String(BigInt(text))
  return typeof id === 'number' && Number.isSafeInteger(id) && id >= 0 ? String(id) : undefined
}

/** The columns owned by the code host. */
export const hostColumns = ({ body, author, url, updatedAt }: CodehostComment) => ({
  body,
  authorName: author?.name ?? DELETED_ACCOUNT,
  authorUrl: author?.url ?? null,
  externalUrl: url,
  hostUpdatedAt: updatedAt === null ? null : new Date(updatedAt),
})

/**
 * What a comment of the host is compared with what is stored: older ones, and those written here, change nothing. Only
 * another body is an edit: the host also updates comments for other reasons. If it was stored since the comment was read,
 * and in the same second, nobody knows which body is newer.
 */
export function compareComment(
  comment: CodehostComment,
  stored: (StoredComment & { isStoredSince?: boolean }) | undefined,
): 'created' | 'edited' | 'refreshed' | 'unchanged' | 'uncertain' {
  if (!stored) return 'created'
  if (stored.authorType !== 'codehost') return 'unchanged'
  const { hostUpdatedAt, ...columns } = hostColumns(comment)
  if (hostUpdatedAt !== null && stored.hostUpdatedAt !== null && hostUpdatedAt < stored.hostUpdatedAt) {
    return 'unchanged'
  }
  if (hashOf(columns.body) !== stored.bodyHash) {
    const isOfSameSecond = hostUpdatedAt?.getTime() === stored.hostUpdatedAt?.getTime()
    return stored.isStoredSince && isOfSameSecond ? 'uncertain' : 'edited'
  }
  const isSame =
    hostUpdatedAt?.getTime() === stored.hostUpdatedAt?.getTime() &&
    (['authorName', 'authorUrl', 'externalUrl'] as const).every((name) => columns[name] === stored[name])
  return isSame ? 'unchanged' : 'refreshed'
}

function numberIn(url: unknown): number | undefined {
  const text = /\/(?:issues|pull)\/(\d{1,10})(?:#.*)?$/.exec(typeof url === 'string' ? url : '')?.[1]
  const number = Number(text)
  return isItemNumber(number) ? number : undefined
}

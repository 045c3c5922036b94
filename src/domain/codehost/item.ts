import { asRecord } from '../../lib/as-record.ts'
import { distinctIgnoringCase } from '../../lib/distinct-ignoring-case.ts'
import { truncateUtf8 } from '../../lib/truncate-utf8.ts'
import { isDateTime, isWebAddress, MAX_RECEIVED_BYTES, repaired } from '../../schemas/formats.ts'
import { rankOf } from '../priority.ts'
import type { StoredTask } from '../task.ts'

/** An issue or pull request, independent of the code host's format. */
export interface CodehostItem {
  number: number
  kind: 'issue' | 'pull_request'
  title: string
  description: string | null
  url: string | null
  labels: string[]
  /** Of the labels that have one: six hexadecimal digits. */
  labelColors: { label: string; color: string }[]
  assignees: string[]
  /** Null for a deleted account. */
  author: { name: string; url: string | null } | null
  /** Null for an issue. */
  isDraft: boolean | null
  openedAt: Date | null
  /** Null while it is open. */
  closedAt: Date | null
  state: 'open' | 'closed'
  closedReason: StoredTask['closedReason']
  /** Whether an open one was closed before; null if the host does not tell. */
  isReopened: boolean | null
  /** The priority of a `priority:*` label; used on the first import only. */
  priority: number | undefined
  /** ISO 8601 to the second, the precision that the host compares. */
  updatedAt: string | null
  /** `owner/name` in the host's current spelling. */
  repository: string | null
}

/** Limits of a task; code hosts do not enforce them. */
const MAX_TITLE_LENGTH = 500
const MAX_NAME_LENGTH = 100
const MAX_NAMES = 20
const MAX_URL_LENGTH = 2048
const MAX_NUMBER = 2_147_483_647

/**
 * Parses an item of the code host. Texts are repaired, never rejected: NUL is removed, lone surrogates are replaced,
 * long texts truncated. Returns undefined if it is not an issue at all: then the response is invalid.
 */
export function itemOf(raw: unknown): CodehostItem | undefined {
  const { number, ...rest } = asRecord(raw)
  if (!isItemNumber(number)) return undefined
  const pull = asRecord(rest.pull_request)
  const isPull = typeof rest.pull_request === 'object' && rest.pull_request !== null
  const state = rest.state === 'closed' ? 'closed' : 'open'
  const labels = namesOf(rest.labels, 'name')
  return {
    number,
    kind: isPull ? 'pull_request' : 'issue',
    title: truncate(textOf(rest.title).trim(), MAX_TITLE_LENGTH) || `#${number}`,
    description: typeof rest.body === 'string' ? truncateUtf8(repaired(rest.body), MAX_RECEIVED_BYTES) : null,
    url: urlOf(rest.html_url),
    labels: labels.slice(0, MAX_NAMES),
    labelColors: colorsOf(rest.labels),
    assignees: namesOf(rest.assignees ?? (rest.assignee ? [rest.assignee] : []), 'login').slice(0, MAX_NAMES),
    author: authorOf(rest.user),
    isDraft: isPull ? rest.draft === true : null,
    openedAt: timeOf(rest.created_at),
    closedAt: state === 'open' ? null : (timeOf(rest.closed_at) ?? timeOf(pull.merged_at)),
    state,
    closedReason:
      state === 'open' ? null : isPull ? pullReason(pull.merged_at) : issueReason(rest.state_reason),
    isReopened: rest.state_reason === undefined ? null : rest.state_reason === 'reopened',
    priority: priorityIn(labels),
    updatedAt: secondOf(rest.updated_at),
    repository: /\/repos\/([^/]+\/[^/]+)$/.exec(textOf(rest.repository_url))?.[1] ?? null,
  }
}

/** Whether it can be the number of an issue or pull request. */
export const isItemNumber = (number: unknown): number is number =>
  typeof number === 'number' && Number.isInteger(number) && number >= 1 && number <= MAX_NUMBER

/** Parses a page; undefined if one of its items is not an issue. For a repeated number the later item counts. */
export function itemsOf(raw: unknown[]): CodehostItem[] | undefined {
  const byNumber = new Map<number, CodehostItem>()
  for (const each of raw) {
    const item = itemOf(each)
    if (!item) return undefined
    byNumber.set(item.number, item)
  }
  return [...byNumber.values()]
}

const pullReason = (mergedAt: unknown) => (mergedAt ? 'merged' : 'closed_unmerged')

const issueReason = (reason: unknown) =>
  reason === 'not_planned' || reason === 'duplicate' ? reason : 'completed'

/** Common `priority:*` labels; the most urgent one counts. */
const PRIORITIES: Record<string, 'low' | 'medium' | 'high'> = {
  low: 'low',
  p3: 'low',
  minor: 'low',
  medium: 'medium',
  normal: 'medium',
  p2: 'medium',
  high: 'high',
  p1: 'high',
  p0: 'high',
  urgent: 'high',
  critical: 'high',
}

function priorityIn(labels: string[]): number | undefined {
  const ranks = labels.flatMap((label) => {
    const word = /^priority\s*:\s*(\w+)$/i.exec(label)?.[1]?.toLowerCase() ?? ''
    return Object.hasOwn(PRIORITIES, word) ? rankOf(PRIORITIES[word] ?? 'medium') : []
  })
  return ranks.length > 0 ? Math.max(...ranks) : undefined
}

/** Reads objects or plain strings; deleted accounts and labels without a name are skipped. */
function namesOf(list: unknown, key: 'name' | 'login'): string[] {
  const names = (Array.isArray(list) ? list : [])
    .map((item) => (typeof item === 'string' ? item : asRecord(item)[key]))
    .map((name) => truncate(textOf(name).trim(), MAX_NAME_LENGTH))
  return distinctIgnoringCase(names.filter(Boolean))
}

function colorsOf(list: unknown): CodehostItem['labelColors'] {
  return (Array.isArray(list) ? list : []).flatMap((item) => {
    const { name, color } = asRecord(item)
    const [label] = namesOf([name], 'name')
    return label && typeof color === 'string' && /^[\da-f]{6}$/i.test(color)
      ? { label, color: color.toLowerCase() }
      : []
  })
}

const textOf = (value: unknown) => (typeof value === 'string' ? repaired(value) : '')

function truncate(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  return [...text].slice(0, maxLength).join('').trimEnd()
}

export function urlOf(text: unknown): string | null {
  const url = typeof text === 'string' && text.length <= MAX_URL_LENGTH ? URL.parse(repaired(text)) : null
  // Escaped characters make it longer.
  return url && url.href.length <= MAX_URL_LENGTH && isWebAddress(url.href) ? url.href : null
}

export function authorOf(user: unknown): CodehostItem['author'] {
  const { login, html_url } = asRecord(user)
  const name = truncate(textOf(login).trim(), MAX_NAME_LENGTH)
  return name === '' ? null : { name, url: urlOf(html_url) }
}

export function timeOf(text: unknown): Date | null {
  return typeof text === 'string' && isDateTime(text) ? new Date(text) : null
}

export function secondOf(text: unknown): string | null {
  const time = typeof text === 'string' ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? null : toSecond(time)
}

/** The code host's time format: whole seconds, UTC. */
export const toSecond = (time: number) => `${new Date(time).toISOString().slice(0, 19)}Z`

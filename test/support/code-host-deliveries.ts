import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { sign } from '@octokit/webhooks-methods'
import { type HostItem, type HostRepository, issueJson, repositoryJson, written } from './code-host-items.ts'

/** What a webhook of the code host reports. */
export interface HostDelivery {
  event: string
  payload: object
}

/** Where deliveries are sent, and the secret that signs them. */
export interface HostWebhook {
  url: string
  secret: string
}

interface SendOptions {
  /** The same id is a redelivery. */
  deliveryId?: string
  /** Replace those of a valid delivery; undefined omits one. */
  headers?: Record<string, string | undefined>
}

/** Sends a delivery as the code host does: signed, with its headers. */
export async function deliver(
  { url, secret }: HostWebhook,
  { event, payload }: HostDelivery,
  { deliveryId = randomUUID(), headers = {} }: SendOptions = {},
) {
  const body = written(payload)
  const sent = {
    'content-type': 'application/json',
    'user-agent': 'GitHub-Hookshot/5ec2a5b',
    'x-github-event': event,
    'x-github-delivery': deliveryId,
    'x-hub-signature-256': await sign(secret, body),
    ...headers,
  }
  const present = Object.entries(sent).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  const response = await fetch(url, { method: 'POST', headers: Object.fromEntries(present), body })
  // biome-ignore lint/suspicious/noExplicitAny: each test states what it expects of a response.
  return { status: response.status, body: (await response.json()) as any }
}

/** A change of an item as its webhook reports it, in the state that the item has now. */
export function itemDelivery(
  item: HostItem,
  { api, repository, action }: { api: string; repository: HostRepository; action: string },
): HostDelivery {
  const about = { action, repository: repositoryJson(api, repository), sender: { login: 'ada', id: 1 } }
  const json = issueJson(item, { api, repository }) as Record<string, unknown>
  if (item.mergedAt === undefined) return { event: 'issues', payload: { ...about, issue: json } }
  // A pull request is shaped differently from its entry in a list of issues.
  const { pull_request, state_reason, repository_url, labels_url, events_url, timeline_url, ...shared } = json
  const pull = {
    ...shared,
    merged: item.mergedAt !== null,
    merged_at: item.mergedAt,
    mergeable: null,
    requested_reviewers: [],
  }
  return { event: 'pull_request', payload: { ...about, number: item.number, pull_request: pull } }
}

/** Every recorded delivery of the events that are accepted. */
export const recordedDeliveries = (): HostDelivery[] =>
  JSON.parse(gunzipSync(readFileSync(new URL('./recorded/deliveries.json.gz', import.meta.url))).toString())

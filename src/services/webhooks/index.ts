import type { UrlRefusal } from '../../clients/webhook-receiver.ts'
import { orderById } from '../../domain/cursor.ts'
import type { Operations } from '../../domain/operation.ts'
import {
  tooManySecrets,
  tooManyWebhooks,
  validationFailed,
  webhookNotFound,
  webhookOutOfReach,
  webhookSecretMissing,
  webhookUrlNotAllowed,
} from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { BoundRepositories, Repositories } from '../../repositories/index.ts'
import type { NewWebhookRow, WebhookRow } from '../../repositories/webhooks/webhooks.ts'
import type { Rotation } from '../../schemas/key.ts'
import {
  MAX_WEBHOOKS,
  type NewWebhook,
  type Webhook,
  type WebhookChange,
  type WebhookWithSecret,
} from '../../schemas/webhook.ts'
import type { Caller } from '../access.ts'
import { changeLog } from '../activity/row.ts'
import type { Sequencer } from '../activity/sequencer.ts'
import { readPage } from '../page.ts'
import { defaultProjectOf } from '../place.ts'
import { liveOf, replacedBy } from '../rotating-secrets.ts'
import { writableProject } from '../writable-project.ts'
import type { WebhookSigner } from './signer.ts'

export const webhookOperations = {
  create: { scope: 'admin', changesSecrets: true },
  list: { scope: 'admin' },
  get: { scope: 'admin' },
  update: { scope: 'admin' },
  rotate: { scope: 'admin', changesSecrets: true },
  delete: { scope: 'admin', changesSecrets: true },
} satisfies Operations<ReturnType<typeof webhooksService>>

interface WebhooksDeps {
  repos: Repositories
  clock: Clock
  signer: WebhookSigner
  sequencer: Pick<Sequencer, 'catchUp'>
  /** Whether requests may be sent to a URL. */
  receiver: { refusalOf(url: string): Promise<UrlRefusal | undefined> }
}

/** Outgoing webhooks: URLs that changes are sent to. */
export function webhooksService({ repos, clock, signer, sequencer, receiver }: WebhooksDeps) {
  const log = changeLog(clock)

  return {
    /**
     * @throws validation_failed, insufficient_scope, webhook_url_not_allowed, encryption_key_missing, project_not_found,
     * project_archived, too_many_webhooks
     */
    async create(caller: Caller, input: NewWebhook): Promise<WebhookWithSecret> {
      const { name, types = [], isActive = true } = input
      const projectId = input.projectId === undefined ? defaultProjectOf(caller) : input.projectId
      if (projectId === null && caller.projectIds !== null) throw webhookOutOfReach()
      const url = await allowedUrl(input.url)
      const now = clock.now()
      const id = clock.newId(now)
      const { text, stored } = signer.newSecret(id)
      const row: NewWebhookRow = {
        id,
        name,
        url,
        types: [...new Set(types)],
        projectId,
        isActive,
        disabledReason: null,
        secret: stored,
        previousSecrets: [],
        createdAt: now,
        position: await presentPosition(),
      }
      return repos.within(caller).transaction(async (repos) => {
        if (projectId !== null) await writableProject(repos, { id: projectId })
        if (!(await repos.webhooks.insertUpTo(MAX_WEBHOOKS, row))) throw tooManyWebhooks(MAX_WEBHOOKS)
        await log(repos, { now, type: 'webhook.created', caller, projectId, metadata: about(row) })
        await repos.webhooks.announce()
        return { ...toWebhook(row), secret: text }
      })
    },

    /** Oldest first. */
    async list(caller: Caller, request: { limit?: number; cursor?: string }) {
      const { webhooks } = repos.within(caller)
      return readPage({
        order: orderById('webhooks'),
        request,
        read: async (after, limit) => (await webhooks.list({ after, limit })).map(toWebhook),
      })
    },

    /** @throws webhook_not_found */
    async get(caller: Caller, id: string): Promise<Webhook> {
      return toWebhook(await webhookOf(repos.within(caller), id))
    },

    /**
     * @throws webhook_not_found, webhook_url_not_allowed, webhook_secret_missing, project_archived, validation_failed
     */
    async update(
      caller: Caller,
      { id, change: input }: { id: string; change: WebhookChange },
    ): Promise<Webhook> {
      const before = await webhookOf(repos.within(caller), id)
      if (Object.keys(input).length === 0) return toWebhook(before)
      const url = input.url === undefined ? undefined : await allowedUrl(input.url)
      // An imported one was not checked, and a host may have got another address.
      if (url === undefined && input.isActive && !before.isActive) await allowedUrl(before.url)
      const position = input.isActive === undefined ? undefined : await presentPosition()
      return repos.within(caller).transaction(async (repos) => {
        const webhook = await lockedWebhook(repos, id)
        const { isActive = webhook.isActive } = input
        const isSwitchedOn = isActive && !webhook.isActive
        if (isSwitchedOn && webhook.secret === null) throw webhookSecretMissing(id)
        const change = {
          ...input,
          ...(url !== undefined && { url }),
          ...(input.types && { types: [...new Set(input.types)] }),
          ...(isActive !== webhook.isActive && { disabledReason: null }),
          ...(isActive !== webhook.isActive && position !== undefined && switched(webhook, position)),
        }
        await repos.webhooks.update(id, change)
        const isElsewhere = url !== undefined && url !== webhook.url
        if (isSwitchedOn || isElsewhere) await repos.webhooks.resetFailures(id)
        const metadata = { ...about({ ...webhook, ...change }), fields: Object.keys(input) }
        const { projectId } = webhook
        await log(repos, { now: clock.now(), type: 'webhook.updated', caller, projectId, metadata })
        await repos.webhooks.announce()
        return toWebhook(await webhookOf(repos, id))
      })
    },

    /**
     * Replaces the secret. Deliveries are signed with the previous one, too, for the overlap.
     * @throws webhook_not_found, project_archived, too_many_secrets, encryption_key_missing
     */
    async rotate(
      caller: Caller,
      { id, overlapSeconds = 86_400 }: Rotation & { id: string },
    ): Promise<WebhookWithSecret> {
      return repos.within(caller).transaction(async (repos) => {
        const webhook = await lockedWebhook(repos, id)
        const now = clock.now()
        const { secret, previousSecrets: previous } = webhook
        if (liveOf(previous, now).length > 0 && overlapSeconds > 0) throw tooManySecrets()
        const { text, stored } = signer.newSecret(id)
        await repos.webhooks.update(id, {
          secret: stored,
          previousSecrets: replacedBy({ secret, previous }, { now, overlapSeconds }),
        })
        const { projectId } = webhook
        const metadata = about(webhook)
        await log(repos, { now, type: 'webhook.secret_rotated', caller, projectId, metadata })
        await repos.webhooks.announce()
        return { ...toWebhook(webhook), secret: text }
      })
    },

    /**
     * Deletes a webhook with its deliveries.
     * @throws webhook_not_found, project_archived
     */
    async delete(caller: Caller, id: string): Promise<void> {
      await repos.within(caller).transaction(async (repos) => {
        const webhook = await lockedWebhook(repos, id)
        await repos.webhooks.delete(id)
        const { projectId } = webhook
        const metadata = about(webhook)
        await log(repos, { now: clock.now(), type: 'webhook.deleted', caller, projectId, metadata })
        await repos.webhooks.announce()
      })
    },
  }

  /** What was committed before has earlier positions, and is not sent. */
  async function presentPosition(): Promise<number> {
    const { end } = await sequencer.catchUp()
    return end.position
  }

  /** @throws validation_failed, webhook_url_not_allowed */
  async function allowedUrl(text: string): Promise<string> {
    const url = URL.parse(text)
    if (!url) throw webhookUrlNotAllowed('not_https')
    if (url.username !== '' || url.password !== '') throw userInUrl()
    url.hash = ''
    const refusal = await receiver.refusalOf(url.href)
    if (refusal) throw webhookUrlNotAllowed(refusal)
    return url.href
  }
}

/** @throws webhook_not_found */
export async function webhookOf(
  { webhooks }: Pick<BoundRepositories, 'webhooks'>,
  id: string,
): Promise<WebhookRow> {
  const webhook = await webhooks.find(id)
  if (!webhook) throw webhookNotFound(id)
  return webhook
}

/**
 * Locks its project first, as everywhere.
 * @throws webhook_not_found, project_archived
 */
export async function lockedWebhook(repos: BoundRepositories, id: string): Promise<WebhookRow> {
  const { projectId } = await webhookOf(repos, id)
  if (projectId !== null) await writableProject(repos, { id: projectId })
  const webhook = await repos.webhooks.findForUpdate(id)
  if (!webhook) throw webhookNotFound(id)
  return webhook
}

/** What switching a webhook on or off changes: what is committed after a position is sent from then on, or not. */
function switched(webhook: WebhookRow, position: number): Partial<Pick<WebhookRow, 'position' | 'pauses'>> {
  const pauses = webhook.pauses.filter(([, upTo]) => upTo === null || upTo > webhook.position)
  if (webhook.isActive) return { pauses: [...pauses, [position, null]] }
  const last = pauses.at(-1)
  // Deliveries of the time before are still being written.
  if (last && webhook.position < last[0]) return { pauses: pauses.with(-1, [last[0], position]) }
  return { position, pauses: [] }
}

/** What the activity log says about a webhook: not its URL, which may contain a secret. */
export const about = ({ id, name }: Pick<WebhookRow, 'id' | 'name'>) => ({ webhookId: id, name })

const userInUrl = () =>
  validationFailed([
    {
      path: '/url',
      code: 'not_allowed',
      message: 'must not have a user name or password. Verify the signature instead.',
    },
  ])

export const toWebhook = (row: NewWebhookRow & Partial<Pick<WebhookRow, 'nextAttemptAt'>>): Webhook => ({
  id: row.id,
  name: row.name,
  url: row.url,
  types: row.types,
  projectId: row.projectId,
  isActive: row.isActive,
  disabledReason: row.disabledReason,
  nextAttemptAt: row.nextAttemptAt?.toISOString() ?? null,
  createdAt: row.createdAt.toISOString(),
})

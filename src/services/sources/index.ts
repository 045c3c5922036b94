import { orderById } from '../../domain/cursor.ts'
import { type Operations, requireAllowed } from '../../domain/operation.ts'
import { refuseMapping } from '../../domain/sources/mapping.ts'
import { PRESETS } from '../../domain/sources/presets.ts'
import { refuseVerify, toTemplate } from '../../domain/sources/verify.ts'
import { listNotFound, sourceNotFound, sourceSecretMissing, validationFailed } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { BoundRepositories, Repositories } from '../../repositories/index.ts'
import type { SourceRow } from '../../repositories/sources/sources.ts'
import type { NewSource, Source, SourceChange, SourceQuery, SourceRotation } from '../../schemas/source.ts'
import type { Caller } from '../access.ts'
import { changeLog } from '../activity/row.ts'
import { readPage } from '../page.ts'
import { requirePlace } from '../place.ts'
import { replacedBy } from '../rotating-secrets.ts'
import { writableProject } from '../writable-project.ts'
import { asClears, asTemplate, definitionOf } from './definition.ts'
import type { PayloadReader } from './reader.ts'
import { hasSecret, type SourceSecrets } from './secrets.ts'

export const sourceOperations = {
  listPresets: { scope: 'admin' },
  create: { scope: 'admin', changesSecrets: true },
  list: { scope: 'admin' },
  get: { scope: 'admin' },
  update: { scope: 'admin' },
  rotate: { scope: 'admin', changesSecrets: true },
  delete: { scope: 'admin', changesSecrets: true },
} satisfies Operations<ReturnType<typeof sourcesService>>

/** A source without its URL, which only the interface knows. */
export type SourceView = Omit<Source, 'url'>

export interface SourcesDeps {
  repos: Repositories
  clock: Clock
  reader: Pick<PayloadReader, 'check'>
  secrets: SourceSecrets
}

/** Sources: other systems whose JSON becomes tasks. */
export function sourcesService({ repos, clock, reader, secrets }: SourcesDeps) {
  const log = changeLog(clock)

  return {
    /** Ready-made sources. There are few, so that they are one page. */
    listPresets: () => ({ data: PRESETS, nextCursor: null }),

    /**
     * @throws insufficient_scope, project_not_found, project_archived, list_not_found, validation_failed,
     * encryption_key_missing
     */
    async create(caller: Caller, input: NewSource): Promise<SourceView & { secret: string }> {
      const { verify, secret: given, listId = null, isActive = true } = input
      const { mapping = 'template', each = null, filter = null, clears = [] } = input
      requireReachOf(caller, { mapping })
      refuseVerify(verify)
      const template = toTemplate(input.template)
      await refuseUnmappable({ mapping, listId, each, filter, template, clears })
      const now = clock.now()
      const id = clock.newId(now)
      const { scheme, header = null, prefix = null } = verify
      const { text, stored } = secrets.secretFor({ id, scheme }, given)
      const { name, projectId } = input
      const row: SourceRow = {
        id,
        name,
        projectId,
        listId,
        scheme,
        header,
        prefix,
        isActive,
        mapping,
        each,
        filter,
        template,
        clears,
        disabledReason: null,
        slowDeliveries: 0,
        ...{
          secret: stored,
          previousSecrets: [],
          createdAt: now,
          updatedAt: now,
        },
      }
      return repos.within(caller).transaction(async (repos) => {
        await writableProject(repos, { id: projectId })
        await refuseForeignList(repos, row)
        await repos.sources.insert(row)
        const metadata = { sourceId: id, name }
        await log(repos, { now, type: 'source.created', caller, projectId, metadata })
        return { ...toSource(row), secret: text }
      })
    },

    /**
     * Oldest first.
     * @throws project_not_found, invalid_cursor
     */
    async list(caller: Caller, { projectId, ...request }: SourceQuery) {
      const bound = repos.within(caller)
      await requirePlace(bound, { projectId })
      return readPage({
        order: orderById('sources'),
        request,
        read: async (after, limit) => (await bound.sources.list({ projectId, after, limit })).map(toSource),
      })
    },

    /** @throws source_not_found */
    async get(caller: Caller, id: string): Promise<SourceView> {
      return toSource(await findSource(repos.within(caller), id))
    },

    /**
     * @throws insufficient_scope, source_not_found, source_secret_missing, project_archived, list_not_found,
     * validation_failed
     */
    async update(
      caller: Caller,
      { id, change: { verify, template, ...change } }: { id: string; change: SourceChange },
    ): Promise<SourceView> {
      if (verify) refuseVerify(verify)
      const bound = repos.within(caller)
      const given = {
        ...change,
        ...(template && { template: toTemplate(template) }),
        ...(verify && {
          scheme: verify.scheme,
          header: verify.header ?? null,
          prefix: verify.prefix ?? null,
        }),
      }
      const seen = await findSource(bound, id)
      requireReachOf(caller, seen)
      await refuseUnmappable({ ...seen, ...given })
      return bound.transaction(async (repos) => {
        const source = await lockedSource(repos, id)
        if (verify && verify.scheme !== source.scheme) throw schemeChanged()
        if (change.isActive && !source.isActive && !hasSecret(source)) throw sourceSecretMissing(id)
        const now = clock.now()
        const isSwitched = change.isActive !== undefined && change.isActive !== source.isActive
        // Other templates, or another try with these.
        const isNew = isSwitched || template || change.filter !== undefined || change.each !== undefined
        const reset = {
          ...(isSwitched && { disabledReason: null }),
          ...(isNew && { slowDeliveries: 0 }),
        }
        const changed = { ...source, ...given, ...reset, updatedAt: now }
        if (change.listId) await refuseForeignList(repos, changed)
        await repos.sources.update(id, { ...given, ...reset, updatedAt: now })
        const metadata = {
          sourceId: id,
          name: changed.name,
          fields: Object.keys({ ...change, verify, template }),
        }
        await log(repos, { now, type: 'source.updated', caller, projectId: source.projectId, metadata })
        return toSource(changed)
      })
    },

    /**
     * Replaces the secret; the previous one stays valid for the overlap, and the one before it ends.
     * @throws insufficient_scope, source_not_found, project_archived, validation_failed, encryption_key_missing
     */
    async rotate(
      caller: Caller,
      { id, overlapSeconds = 86_400, secret: given }: SourceRotation & { id: string },
    ): Promise<SourceView & { secret: string }> {
      return repos.within(caller).transaction(async (repos) => {
        const source = await lockedSource(repos, id)
        requireReachOf(caller, source)
        const now = clock.now()
        const { text, stored } = secrets.secretFor(source, given)
        const { secret, previousSecrets: previous } = source
        const replaced = replacedBy({ secret, previous }, { now, overlapSeconds })
        const change = { secret: stored, previousSecrets: replaced.slice(0, 1), updatedAt: now }
        await repos.sources.update(id, change)
        const metadata = { sourceId: id, name: source.name }
        const { projectId } = source
        await log(repos, { now, type: 'source.secret_rotated', caller, projectId, metadata })
        return { ...toSource({ ...source, ...change }), secret: text }
      })
    },

    /**
     * Deletes a source with its deliveries; its tasks stay, and so do deliveries of feedback.
     * @throws insufficient_scope, source_not_found, project_archived
     */
    async delete(caller: Caller, id: string): Promise<void> {
      await repos.within(caller).transaction(async (repos) => {
        const source = await lockedSource(repos, id)
        requireReachOf(caller, source)
        const { projectId, name } = source
        await repos.sources.delete(id)
        const metadata = { sourceId: id, name }
        await log(repos, { now: clock.now(), type: 'source.deleted', caller, projectId, metadata })
      })
    },
  }

  async function refuseUnmappable(
    source: Pick<SourceRow, 'mapping' | 'listId' | 'each' | 'filter' | 'template' | 'clears'>,
  ): Promise<void> {
    const { template, clears, ...others } = source
    refuseMapping({ ...others, template: asTemplate(template), clears: asClears(clears) })
    if (source.mapping === 'feedback') return
    const errors = await reader.check(definitionOf(source))
    if (errors.length > 0) throw validationFailed(errors)
  }
}

/**
 * Feedback is routed to all projects, so its sources belong to the whole service.
 * @throws insufficient_scope if the caller is bound to a project
 */
export function requireReachOf(caller: Caller, { mapping }: Pick<SourceRow, 'mapping'>): void {
  requireAllowed(caller, { scope: 'admin', isServiceWide: mapping === 'feedback' })
}

/** @throws source_not_found */
export async function findSource(
  { sources }: Pick<BoundRepositories, 'sources'>,
  id: string,
): Promise<SourceRow> {
  const source = await sources.find(id)
  if (!source) throw sourceNotFound(id)
  return source
}

/** Locks its project first, as everywhere. */
async function lockedSource(repos: BoundRepositories, id: string): Promise<SourceRow> {
  const { projectId } = await findSource(repos, id)
  await writableProject(repos, { id: projectId })
  const source = await repos.sources.findForUpdate(id)
  if (!source) throw sourceNotFound(id)
  return source
}

async function refuseForeignList(
  { lists }: BoundRepositories,
  { listId, projectId }: Pick<SourceRow, 'listId' | 'projectId'>,
): Promise<void> {
  const list = listId === null ? undefined : await lists.find(listId)
  if (listId !== null && list?.projectId !== projectId) throw listNotFound(listId)
}

const schemeChanged = () =>
  validationFailed([
    {
      path: '/verify/scheme',
      code: 'not_allowed',
      message: 'cannot be changed, because the secret is stored for it. Create another source.',
    },
  ])

const toSource = (row: SourceRow): SourceView => ({
  id: row.id,
  name: row.name,
  projectId: row.projectId,
  listId: row.listId,
  verify: { scheme: row.scheme, header: row.header, prefix: row.prefix },
  mapping: row.mapping,
  each: row.each,
  filter: row.filter,
  template: asTemplate(row.template),
  clears: asClears(row.clears),
  isActive: row.isActive,
  disabledReason: row.disabledReason,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
})

import { changesBetween, isNoChange } from '../domain/changes.ts'
import { orderById } from '../domain/cursor.ts'
import type { Operations } from '../domain/operation.ts'
import { projectIsDefault, projectNotFound } from '../errors/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { ConnectionWithRun } from '../repositories/codehost/connections.ts'
import type { BoundRepositories } from '../repositories/index.ts'
import type { CountedProjectRow, ProjectRow } from '../repositories/projects.ts'
import type { NewProject, Project, ProjectChange, ProjectQuery } from '../schemas/project.ts'
import type { Caller } from './access.ts'
import { changeLog } from './activity/row.ts'
import { toProjectCodehost } from './codehost/run-view.ts'
import type { DeletionDeps } from './large-deletions.ts'
import { readPage } from './page.ts'
import { projectDeletionsOf } from './project-deletions.ts'
import { writableProject } from './writable-project.ts'

export const projectOperations = {
  create: { scope: 'admin', isServiceWide: true },
  list: { scope: 'tasks:read' },
  get: { scope: 'tasks:read' },
  update: { scope: 'admin' },
  archive: { scope: 'admin' },
  unarchive: { scope: 'admin' },
  delete: { scope: 'admin' },
} satisfies Operations<ReturnType<typeof projectsService>>

/** Projects: they group lists and tasks, and keys can be bound to one. */
export function projectsService({ repos, clock, ...limits }: DeletionDeps) {
  const deletions = projectDeletionsOf({ repos, clock, ...limits })

  const record = changeLog(clock)

  return {
    /** Creates a project with its default list. */
    async create(caller: Caller, { name, groupFeedback, triage }: NewProject): Promise<Project> {
      return repos.within(caller).transaction(async (repos) => {
        const now = clock.now()
        const given = { name, groupFeedback, triage }
        const project = await insertProject(repos, { clock, now, ...given, isDefault: false })
        await record(repos, {
          type: 'project.created',
          caller,
          projectId: project.id,
          now,
          metadata: { name },
        })
        return toProject({ ...project, openCount: 0 }, undefined)
      })
    },

    /** Oldest first. */
    async list(caller: Caller, { archived, ...request }: ProjectQuery) {
      const bound = repos.within(caller)
      return readPage({
        order: orderById('projects'),
        request,
        read: async (after, limit) =>
          withCodehost(bound, await bound.projects.listCounted({ isArchived: archived, after, limit })),
      })
    },

    /** @throws project_not_found */
    async get(caller: Caller, id: string): Promise<Project> {
      return counted(repos.within(caller), id)
    },

    /** @throws project_not_found, project_archived */
    async update(
      caller: Caller,
      { id, change: values }: { id: string; change: ProjectChange },
    ): Promise<Project> {
      return repos.within(caller).transaction(async (repos) => {
        const project = await writableProject(repos, { id, lock: 'update' })
        const after = { ...project, ...values }
        const changes = changesBetween({ before: project, after, names: ['name', 'groupFeedback', 'triage'] })
        if (!isNoChange(changes)) {
          const now = clock.now()
          await change(repos, { id, values: { ...values, updatedAt: now } })
          await record(repos, { type: 'project.updated', caller, projectId: id, now, metadata: { changes } })
        }
        return counted(repos, id)
      })
    },

    /**
     * Makes a project read-only.
     * @throws project_not_found, project_is_default
     */
    async archive(caller: Caller, id: string): Promise<Project> {
      return repos.within(caller).transaction(async (repos) => {
        // Locked as for a deletion: feedback in progress is stored before, or routed elsewhere.
        const project = await repos.projects.findForDelete(id)
        if (!project) throw projectNotFound(id)
        if (project.isDefault) throw projectIsDefault(project.name)
        const now = clock.now()
        if (!project.archivedAt) {
          await change(repos, { id, values: { archivedAt: now, updatedAt: now } })
          await record(repos, {
            type: 'project.archived',
            caller,
            projectId: id,
            now,
            metadata: { name: project.name },
          })
        }
        return counted(repos, id)
      })
    },

    /**
     * Makes a project writable again; cancels its deletion.
     * @throws project_not_found
     */
    async unarchive(caller: Caller, id: string): Promise<Project> {
      return repos.within(caller).transaction(async (repos) => {
        const project = await repos.projects.findForUpdate(id)
        if (!project) throw projectNotFound(id)
        const now = clock.now()
        await repos.projectDeletions.cancel(id)
        if (project.archivedAt) {
          await change(repos, { id, values: { archivedAt: null, updatedAt: now } })
          const connection = await repos.codehost.find(id)
          if (connection) await repos.pushedDeliveries.resume(connection.id)
          await record(repos, {
            type: 'project.unarchived',
            caller,
            projectId: id,
            now,
            metadata: { name: project.name },
          })
        }
        return counted(repos, id)
      })
    },

    /**
     * Deletes a project that only has deleted tasks and rules, and that no valid key or routing rule references.
     * @returns the archived project, if its trash is so large that the worker deletes the rest.
     * @throws project_not_found, project_is_default, project_not_empty, project_in_use
     */
    async delete(caller: Caller, id: string): Promise<Project | undefined> {
      return (await deletions.delete(caller, id)) ? undefined : counted(repos.within(caller), id)
    },

    /** Continues deletions in the background, one batch per call; returns whether there is more to do. */
    workOnDeletions: deletions.work,
  }
}

/** Inserts a project with its default list: every project has one. */
export async function insertProject(
  repos: BoundRepositories,
  {
    clock,
    now,
    name,
    groupFeedback = 'suggest',
    triage = 'on',
    isDefault,
  }: Pick<ProjectRow, 'name' | 'isDefault'> & {
    clock: Clock
    now: Date
    groupFeedback?: ProjectRow['groupFeedback'] | undefined
    triage?: ProjectRow['triage'] | undefined
  },
): Promise<ProjectRow> {
  const project = {
    id: clock.newId(now),
    name,
    groupFeedback,
    triage,
    isDefault,
    archivedAt: null,
    createdAt: now,
    updatedAt: now,
  }
  await repos.projects.insert(project)
  await repos.lists.insert({
    id: clock.newId(now),
    projectId: project.id,
    name: 'Inbox',
    position: 0,
    isDefault: true,
    openCount: 0,
    isClosing: false,
    createdAt: now,
  })
  await repos.configurationChanges.announceProject(project.id)
  return project
}

async function change(
  repos: BoundRepositories,
  { id, values }: { id: string; values: Partial<ProjectRow> },
): Promise<void> {
  await repos.projects.update(id, values)
  await repos.configurationChanges.announceProject(id)
}

async function counted(repos: BoundRepositories, id: string): Promise<Project> {
  const row = await repos.projects.findCounted(id)
  if (!row) throw projectNotFound(id)
  const [connection] = await repos.codehost.listWithRuns([id])
  return toProject(row, connection)
}

/** One query for the connections of all projects. */
async function withCodehost({ codehost }: BoundRepositories, rows: CountedProjectRow[]): Promise<Project[]> {
  const connections = await codehost.listWithRuns(rows.map(({ id }) => id))
  const byProject = new Map(connections.map((connection) => [connection.projectId, connection]))
  return rows.map((row) => toProject(row, byProject.get(row.id)))
}

const toProject = (row: CountedProjectRow, connection: ConnectionWithRun | undefined): Project => ({
  id: row.id,
  name: row.name,
  archivedAt: row.archivedAt?.toISOString() ?? null,
  groupFeedback: row.groupFeedback,
  triage: row.triage,
  openCount: row.openCount,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
  codehost: connection ? toProjectCodehost(connection) : null,
})

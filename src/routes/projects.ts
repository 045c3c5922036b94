import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { IdempotencyKey } from '../schemas/headers.ts'
import { IdPath, ref } from '../schemas/parts.ts'
import { NewProject, Project, ProjectChange, ProjectPage, ProjectQuery } from '../schemas/project.ts'
import { emptyResponse, Location, responses } from '../schemas/responses.ts'
import type { Services } from '../services/index.ts'
import { projectOperations } from '../services/projects.ts'

const tags = ['Projects']

/** Create, read, rename, archive and delete projects. */
export const projectsRoutes: FastifyPluginAsyncTypebox<Services> = async (app, service) => {
  const { projects } = service

  app.post(
    '',
    {
      config: { operation: projectOperations.create },
      schema: {
        tags,
        operationId: 'createProject',
        summary: 'Create a project',
        description:
          'Makes a project with its default list "Inbox". A key that is bound to a project cannot make another.',
        headers: IdempotencyKey,
        body: ref(NewProject),
        response: { 201: responses(ref(Project), 'The project that was made.', { location: Location }) },
      },
    },
    (request, reply) =>
      app.idempotently({ request, reply }, async ({ projects }) => {
        const body = await projects.create(request.caller, request.body)
        return { status: 201, headers: { location: `/api/projects/${body.id}` }, body }
      }),
  )

  app.get(
    '',
    {
      config: { operation: projectOperations.list, mistakes: ['invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listProjects',
        summary: 'List projects',
        description: 'One page of the projects the key may see, archived ones included, oldest first.',
        querystring: ProjectQuery,
        response: { 200: responses(ProjectPage, 'A page of projects.') },
      },
    },
    (request) => projects.list(request.caller, request.query),
  )

  app.get(
    '/:id',
    {
      config: { operation: projectOperations.get, mistakes: ['project_not_found'] },
      schema: {
        tags,
        operationId: 'getProject',
        summary: 'Read a project',
        description: 'Answers one project.',
        params: IdPath('project'),
        response: { 200: responses(ref(Project), 'The project.') },
      },
    },
    (request) => projects.get(request.caller, request.params.id),
  )

  app.patch(
    '/:id',
    {
      config: { operation: projectOperations.rename, mistakes: ['project_not_found', 'project_archived'] },
      schema: {
        tags,
        operationId: 'updateProject',
        summary: 'Rename a project',
        description: 'Changes what is named and leaves the rest.',
        params: IdPath('project'),
        body: ref(ProjectChange),
        response: { 200: responses(ref(Project), 'The project as it is now.') },
      },
    },
    (request) => projects.rename(request.caller, request.params.id, request.body),
  )

  app.post(
    '/:id/archive',
    {
      config: { operation: projectOperations.archive, mistakes: ['project_not_found', 'project_is_default'] },
      schema: {
        tags,
        operationId: 'archiveProject',
        summary: 'Archive a project',
        description:
          'From here on the project can be read, not written: writes are 409. One that is archived is answered as it is.',
        params: IdPath('project'),
        response: { 200: responses(ref(Project), 'The project, archived.') },
      },
    },
    (request) => projects.archive(request.caller, request.params.id),
  )

  app.post(
    '/:id/unarchive',
    {
      config: { operation: projectOperations.unarchive, mistakes: ['project_not_found'] },
      schema: {
        tags,
        operationId: 'unarchiveProject',
        summary: 'Unarchive a project',
        description: 'The project can be written again. One that is not archived is answered as it is.',
        params: IdPath('project'),
        response: { 200: responses(ref(Project), 'The project, in use again.') },
      },
    },
    (request) => projects.unarchive(request.caller, request.params.id),
  )

  app.delete(
    '/:id',
    {
      config: {
        operation: projectOperations.delete,
        mistakes: ['project_not_found', 'project_is_default', 'project_not_empty', 'project_in_use'],
      },
      schema: {
        tags,
        operationId: 'deleteProject',
        summary: 'Delete an empty project',
        description:
          'Deletes the project with its lists when it has no tasks, and no rule, no key that still works and no routing rule names it. Deleted tasks and rules do not count: they go with it, for good. Where that takes over two seconds the answer is 202: the project is archived, and the rest happens in the background, also across restarts, until it is 404. To unarchive it calls that off; deleted tasks that are gone by then stay gone.',
        params: IdPath('project'),
        response: {
          202: responses(ref(Project), 'The project, archived, while its deleted tasks go.'),
          204: emptyResponse('It is gone.'),
        },
      },
    },
    async (request, reply) => {
      const project = await projects.delete(request.caller, request.params.id)
      if (!project) return reply.status(204).send(null)
      reply.status(202)
      return project
    },
  )
}

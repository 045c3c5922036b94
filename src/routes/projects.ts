import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { IdempotencyKey } from '../schemas/headers.ts'
import { IdPath, ref } from '../schemas/parts.ts'
import { NewProject, Project, ProjectChange, ProjectPage, ProjectQuery } from '../schemas/project.ts'
import { emptyResponse, Location, responses } from '../schemas/responses.ts'
import type { Services } from '../services/index.ts'
import { projectOperations } from '../services/projects.ts'

const tags = ['Projects']

/** Creates, returns, renames, archives and deletes projects. */
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
          'Creates a project with the default list "Inbox". Keys bound to a project can’t create projects.',
        headers: IdempotencyKey,
        body: ref(NewProject),
        response: {
          201: responses(ref(Project), {
            description: 'The created project.',
            headers: { location: Location },
          }),
        },
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
      config: { operation: projectOperations.list, errors: ['invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listProjects',
        summary: 'List projects',
        description:
          'Returns a page of the projects that the key can access, oldest first. Includes archived projects.',
        querystring: ProjectQuery,
        response: { 200: responses(ProjectPage, { description: 'A page of projects.' }) },
      },
    },
    (request) => projects.list(request.caller, request.query),
  )

  app.get(
    '/:id',
    {
      config: { operation: projectOperations.get, errors: ['project_not_found'] },
      schema: {
        tags,
        operationId: 'getProject',
        summary: 'Retrieve a project',
        description: 'Returns a project.',
        params: IdPath('project'),
        response: { 200: responses(ref(Project), { description: 'The project.' }) },
      },
    },
    (request) => projects.get(request.caller, request.params.id),
  )

  app.patch(
    '/:id',
    {
      config: { operation: projectOperations.update, errors: ['project_not_found', 'project_archived'] },
      schema: {
        tags,
        operationId: 'updateProject',
        summary: 'Update a project',
        description: 'Updates the given fields.',
        params: IdPath('project'),
        body: ref(ProjectChange),
        response: { 200: responses(ref(Project), { description: 'The updated project.' }) },
      },
    },
    (request) => projects.update(request.caller, { id: request.params.id, change: request.body }),
  )

  app.post(
    '/:id/archive',
    {
      config: { operation: projectOperations.archive, errors: ['project_not_found', 'project_is_default'] },
      schema: {
        tags,
        operationId: 'archiveProject',
        summary: 'Archive a project',
        description:
          'Archives the project, which makes it read-only: writes return 409. If it is already archived, returns it unchanged.',
        params: IdPath('project'),
        response: { 200: responses(ref(Project), { description: 'The archived project.' }) },
      },
    },
    (request) => projects.archive(request.caller, request.params.id),
  )

  app.post(
    '/:id/unarchive',
    {
      config: { operation: projectOperations.unarchive, errors: ['project_not_found'] },
      schema: {
        tags,
        operationId: 'unarchiveProject',
        summary: 'Unarchive a project',
        description: 'Makes the project writable again. If it isn’t archived, returns it unchanged.',
        params: IdPath('project'),
        response: { 200: responses(ref(Project), { description: 'The unarchived project.' }) },
      },
    },
    (request) => projects.unarchive(request.caller, request.params.id),
  )

  app.delete(
    '/:id',
    {
      config: {
        operation: projectOperations.delete,
        errors: ['project_not_found', 'project_is_default', 'project_not_empty', 'project_in_use'],
      },
      schema: {
        tags,
        operationId: 'deleteProject',
        summary: 'Delete an empty project',
        description:
          'Deletes a project and its lists. It must have no tasks, rules, active keys or routing rules. Deleted tasks and rules don’t count, and are permanently deleted with it. If that takes more than two seconds, the response is 202: the project is archived, and the rest continues in the background, even after a restart. The project then returns 404. Unarchiving it earlier cancels the deletion, but doesn’t restore deleted tasks that are already gone.',
        params: IdPath('project'),
        response: {
          202: responses(ref(Project), {
            description: 'The archived project, while its deleted tasks are being removed.',
          }),
          204: emptyResponse('The project is deleted.'),
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

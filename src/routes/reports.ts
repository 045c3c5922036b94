import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { serialized } from '../plugins/pages.ts'
import { IdPath, ref } from '../schemas/parts.ts'
import {
  Merge,
  ReportCountsQuery,
  ReportPage,
  ReportQuery,
  SimilarQuery,
  SimilarTasks,
  TaskReportCounts,
} from '../schemas/report.ts'
import { ETag, responses } from '../schemas/responses.ts'
import { WrittenTask } from '../schemas/task.ts'
import type { Services } from '../services/index.ts'
import { reportOperations } from '../services/reports.ts'

const tags = ['Tasks']

/** Merges tasks that are about the same. */
export const reportsRoutes: FastifyPluginAsyncTypebox<Services> = async (app, service) => {
  const { reports } = service

  app.post(
    '/:id/merge',
    {
      config: {
        operation: reportOperations.merge,
        errors: ['task_not_found', 'project_archived', 'merge_conflict'],
      },
      schema: {
        tags,
        operationId: 'mergeTask',
        summary: 'Merge a task',
        description:
          'Merges a task into another task of the same project. The task becomes a report of the other: it is done with `closedReason` `duplicate`, and `reports` of the other task increases. Nothing is written to the code host. While it is merged, its status can’t be changed, and its state at the code host isn’t applied. If the task is already merged into that task, returns it unchanged. Keys without `tasks:read` only get `id` and `version`.',
        params: IdPath('task'),
        body: ref(Merge),
        response: {
          200: responses(ref(WrittenTask), { description: 'The merged task.', headers: { etag: ETag } }),
        },
      },
    },
    async (request, reply) => {
      const { params, body } = request
      return reply.withVersion(await reports.merge(request.caller, { id: params.id, into: body.into }))
    },
  )

  app.post(
    '/:id/unmerge',
    {
      config: { operation: reportOperations.unmerge, errors: ['task_not_found', 'project_archived'] },
      schema: {
        tags,
        operationId: 'unmergeTask',
        summary: 'Unmerge a task',
        description:
          'Makes a merged task a task of its own again, with the status that it had before. If it was closed or reopened at the code host meanwhile, it gets that status. If the task isn’t merged, returns it unchanged. Keys without `tasks:read` only get `id` and `version`.',
        params: IdPath('task'),
        response: {
          200: responses(ref(WrittenTask), { description: 'The unmerged task.', headers: { etag: ETag } }),
        },
      },
    },
    async (request, reply) => reply.withVersion(await reports.unmerge(request.caller, request.params.id)),
  )

  app.get(
    '/:id/reports',
    {
      config: { operation: reportOperations.list, errors: ['task_not_found', 'invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listReports',
        summary: 'List the reports of a task',
        description: 'Returns a page of the tasks that are merged into a task, newest first.',
        params: IdPath('task'),
        querystring: ReportQuery,
        response: { 200: responses(ReportPage, { description: 'A page of reports.' }) },
      },
    },
    async (request, reply) =>
      reply.sendPage(await reports.list(request.caller, { id: request.params.id, query: request.query })),
  )

  app.get(
    '/report-counts',
    {
      config: { operation: reportOperations.count },
      schema: {
        tags,
        operationId: 'countReports',
        summary: 'Count what was reported',
        description:
          'Returns how many of these tasks and of all of their reports have which sentiment and app version, and when the first and the last was opened: of all together, and in `tasks` of each. Of more than 10,000, the newest are counted.',
        querystring: ReportCountsQuery,
        response: { 200: responses(ref(TaskReportCounts), { description: 'The counts.' }) },
      },
    },
    async (request) => reports.count(request.caller, request.query.id),
  )

  app.get(
    '/:id/similar',
    {
      config: { operation: reportOperations.listSimilar, errors: ['task_not_found'] },
      schema: {
        tags,
        operationId: 'listSimilarTasks',
        summary: 'List similar tasks',
        description:
          'Returns the tasks of the project that resemble a task, most similar first. Compares the notes of feedback, and otherwise titles and the beginning of descriptions. Includes open tasks and those done in the last 90 days. Tasks that are merged into another task aren’t included, but that task is. A new task is found within seconds.',
        params: IdPath('task'),
        querystring: SimilarQuery,
        response: { 200: responses(ref(SimilarTasks), { description: 'The similar tasks.' }) },
      },
    },
    async (request, reply) => {
      const { id } = request.params
      const { items, isAvailable } = await reports.listSimilar(request.caller, { id, query: request.query })
      const data = items.map(({ json, ...others }) => `{"task":${json},${JSON.stringify(others).slice(1)}`)
      return serialized<SimilarTasks>(reply, `{"data":[${data}],"unavailable":${!isAvailable}}`)
    },
  )
}

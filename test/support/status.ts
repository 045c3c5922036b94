import { expect } from 'vitest'
import type { Pipe } from '../../src/schemas/status.ts'
import type { CallOptions, TestApp } from './app.ts'

/** Stores what was counted, and logs what has changed, as the background worker does each second. */
export async function workOnStatus({ service: { status } }: Pick<TestApp, 'service'>): Promise<void> {
  await status.flush()
  await status.logChanges()
}

/** All pipes that a caller sees, with what has happened until now. */
export async function pipesOf(service: TestApp, options: CallOptions = {}): Promise<Pipe[]> {
  await workOnStatus(service)
  const { status, body } = await service.get('/api/status', options)
  expect([status, body.nextCursor]).toEqual([200, null])
  return body.data
}

/** One of them. */
export async function pipeOf(service: TestApp, name: Pick<Pipe, 'kind' | 'id'>): Promise<Pipe> {
  const pipe = (await pipesOf(service)).find(({ kind, id }) => kind === name.kind && id === name.id)
  if (!pipe) throw new Error(`There is no ${name.kind} ${name.id}.`)
  return pipe
}

/** What was logged about a pipe, oldest first. */
export const changesOf = (service: TestApp, { kind, id }: Pick<Pipe, 'kind' | 'id'>) =>
  service.query(
    `select type, project_id, actor_type, metadata from activity
     where type like 'pipe.%' and metadata ->> 'kind' = $1 and metadata ->> 'id' = $2 order by sequence`,
    [kind, id],
  )

/** The types of what was logged about a pipe. */
export const typesOf = async (service: TestApp, pipe: Pick<Pipe, 'kind' | 'id'>) =>
  (await changesOf(service, pipe)).map(({ type }) => type)

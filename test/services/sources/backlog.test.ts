import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SourceReading } from '../../../src/domain/sources/reading.ts'
import { sourceBacklogService } from '../../../src/services/sources/backlog.ts'
import { type BacklogApp, madeBy, processPending, startBacklogApp } from '../../support/source-backlog.ts'
import { inboxOf, type SentSource, sourceOf } from '../../support/sources.ts'

let service: BacklogApp
let other: BacklogApp
beforeAll(async () => {
  service = await startBacklogApp()
  other = await startBacklogApp({ connectionString: service.connectionString })
})
afterAll(async () => {
  await other.close()
  await service.close()
})

const titlesOf = async (sent: SentSource) => (await madeBy(service, sent)).map(({ title }) => title)

async function pendingOf(titles: string[]): Promise<SentSource> {
  const sent = await sourceOf(service)
  service.useUp(sent)
  for (const title of titles) expect((await sent.send({ title })).status).toBe(202)
  return sent
}

type Read = (next: () => Promise<SourceReading>) => Promise<SourceReading>

/** An instance whose threads for templates do as the test says. */
function instanceOf(read: Read) {
  const logged: unknown[] = []
  const { repos, clock, service: services } = service
  const sourceBacklog = sourceBacklogService({
    ...{ repos, clock, metrics: services.metrics, pipes: services.pipes },
    reader: { readInShare: (input) => read(() => services.payloadReader.read(input)) },
    logFailure: (about, message) => logged.push({ ...about, message }),
  })
  return { service: { ...services, sourceBacklog }, logged }
}

describe('pending deliveries', () => {
  test('are processed once by two instances, in their order', async () => {
    const titles = Array.from({ length: 20 }, (_, index) => `${index}`)
    const sources = await Promise.all([pendingOf(titles), pendingOf(titles), pendingOf(titles)])
    await service.renew()
    await Promise.all([service, other, service, other].map(({ process }) => process()))
    await other.renew()
    await other.process()
    for (const sent of sources) expect(await titlesOf(sent)).toEqual(titles)
  })

  test('are processed by another instance, if the first was killed or is late', async () => {
    const sent = await pendingOf(['A', 'B'])
    const rendering = Promise.withResolvers<void>()
    const isRendering = Promise.withResolvers<void>()
    const late = instanceOf(async (next) => {
      isRendering.resolve()
      await rendering.promise
      return next()
    })
    const ended = processPending(late)
    await isRendering.promise
    await other.process()
    expect(await titlesOf(sent)).toEqual([])
    // Its lease is over.
    await service.renew()
    await other.process()
    expect(await titlesOf(sent)).toEqual(['A', 'B'])
    rendering.resolve()
    await ended
    expect(await titlesOf(sent)).toEqual(['A', 'B'])
    expect(await inboxOf(service, sent)).toMatchObject([{ outcome: 'accepted' }, { outcome: 'accepted' }])
  })

  test('keep their place if the templates could not be run', async () => {
    const sent = await pendingOf(['A', 'B'])
    const failing = instanceOf(() => Promise.reject(new Error('The thread ended.')))
    await expect(processPending(failing)).rejects.toThrow('The thread ended.')
    await service.renew()
    await service.process()
    expect(await titlesOf(sent)).toEqual(['A', 'B'])
  })

  test('stay for the next start once the instance ends', async () => {
    const sent = await pendingOf(['A', 'B'])
    const stopping = new AbortController()
    const ending = instanceOf((next) => {
      stopping.abort()
      return next()
    })
    await processPending(ending, stopping.signal)
    expect(await titlesOf(sent)).toEqual(['A'])
    await service.renew()
    await service.process()
    expect(await titlesOf(sent)).toEqual(['A', 'B'])
  })

  test('are rejected and logged if processing them fails, so that those after them go on', async () => {
    const sent = await pendingOf(['A', 'B'])
    let isFirst = true
    const failing = instanceOf(async (next) => {
      const reading = await next()
      if (!isFirst || reading.outcome !== 'accepted') return reading
      isFirst = false
      const [item] = reading.tasks
      // PostgreSQL refuses it.
      return { ...reading, tasks: item ? [{ ...item, task: { title: '\0' } }] : [] }
    })
    await processPending(failing)
    expect(await titlesOf(sent)).toEqual(['B'])
    const [first] = await inboxOf(service, sent)
    expect(first).toMatchObject({ outcome: 'rejected', errors: [{ code: 'internal_error' }] })
    const { projectId, id: sourceId } = sent.source
    expect(failing.logged).toMatchObject([
      { code: 'internal_error', projectId, sourceId, message: 'delivery of a source failed' },
    ])
    await service.post(`/api/deliveries/${first?.id}/replay`)
    expect(await titlesOf(sent)).toEqual(['B', 'A'])
  })

  test('that are rejected are logged with code and project', async () => {
    const sent = await pendingOf([''])
    const instance = instanceOf((next) => next())
    await processPending(instance)
    const { projectId } = sent.source
    expect(instance.logged).toMatchObject([{ code: 'required', projectId }])
  })

  test('of a source that is deleted meanwhile are gone', async () => {
    const sent = await pendingOf(['A'])
    const instance = instanceOf(async (next) => {
      await service.delete(`/api/sources/${sent.source.id}`)
      return next()
    })
    await processPending(instance)
    expect(await madeBy(service, sent)).toEqual([])
  })

  test('of a source that is switched off meanwhile wait', async () => {
    const sent = await pendingOf(['A'])
    const path = `/api/sources/${sent.source.id}`
    const instance = instanceOf(async (next) => {
      await service.patch(path, { isActive: false })
      return next()
    })
    await processPending(instance)
    expect(await titlesOf(sent)).toEqual([])
    await service.patch(path, { isActive: true })
    await service.renew()
    await service.process()
    expect(await titlesOf(sent)).toEqual(['A'])
  })
})

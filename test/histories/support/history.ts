import { randomUUID } from 'node:crypto'
import { changeHere, retryAll } from './changes-here.ts'
import { peopleThere } from './changes-there.ts'
import { differencesOf } from './differences.ts'
import { turnAllOn } from './settings.ts'
import type { ActionStep, Deliveries, Step, Work } from './steps.ts'
import { type Arrival, type ConnectedProject, sent, type World } from './world.ts'

/** How often what is left is done until nothing is. */
const MAX_ROUNDS = 10
/** Longer than any lease, and any pause between two attempts. */
const MINUTES = 61

export interface HistoryOptions {
  /** For each project, which of its deliveries arrive; `some`: as the steps say. */
  projects: ('some' | 'all' | 'none')[]
  /** Whether each project is synced whole at the end. */
  isSyncedAtEnd: boolean
}

/** What has happened in histories, to see that they are not of nothing. */
export type Tally = Map<string, number>

interface Transit extends Arrival {
  at: number
  project: ConnectedProject
}

/**
 * Makes a history happen, and everything that is left of it. Returns how the projects differ from the code host then: in
 * nothing.
 */
export async function play(
  world: World,
  { steps, projects: modes, isSyncedAtEnd }: HistoryOptions & { steps: Step[] },
  tally: Tally = new Map(),
): Promise<string[]> {
  const repository = world.repository()
  const people = peopleThere(world, repository)
  repository.fill(2)
  const projects = await Promise.all(
    modes.map((_, index) => world.connect(repository, { login: `inlet-${index}` })),
  )
  const projectAt = (index: number) => projects[index % projects.length] as ConnectedProject
  const transits: Transit[] = []
  let late: (() => Promise<unknown>)[] = []
  let now = 0
  /** What becomes of the deliveries of the present change. */
  let deliveries: Deliveries = { delay: 0, copies: [] }
  const count = (what: string) => tally.set(what, (tally.get(what) ?? 0) + 1)

  world.host.onChange(({ delivery }) => send(sent(delivery)))
  try {
    for (const step of steps) {
      await arrive()
      await perform(step)
      now++
    }
    await finish()
    if (isSyncedAtEnd) {
      for (const project of projects) await world.runFull(project)
      await finish()
    }
    const found = await Promise.all(
      projects.map((project) => differencesOf(world, { repository, project, people, isSyncedAtEnd })),
    )
    return found.flatMap((differences, index) => differences.map((each) => `project ${index}: ${each}`))
  } finally {
    world.host.onChange(() => {})
    await world.forget(projects)
  }

  async function perform(step: Step): Promise<void> {
    count(`${step.where} ${step.where === 'nowhere' ? '' : step.what}`.trim())
    if (step.where === 'nowhere') return pass(step.minutes)
    return act(step)
  }

  async function act(step: ActionStep): Promise<void> {
    if (step.where === 'here') return changeHere(world, projectAt(step.project), step)
    if (step.where === 'worker') return work(step)
    const delivery = people.change(step)
    deliveries = step.deliveries
    if (delivery) send(sent(delivery))
  }

  async function work({ project, what, interruption, deliveries: ofWrites }: Work): Promise<void> {
    deliveries = ofWrites
    await world.work(projectAt(project), {
      what,
      interruption,
      delay: async () => {
        if (interruption && 'minutes' in interruption && interruption.minutes > 0)
          await pass(interruption.minutes)
      },
      overlap: async () => {
        if (interruption?.how === 'overlapped') await act(interruption.by)
        deliveries = ofWrites
      },
      onLate: (request) => late.push(request),
      onInterrupted: () => count(`${what}: ${interruption?.at} ${interruption?.how}`),
    })
  }

  /** What arrives late has arrived by then. */
  async function pass(minutes: number): Promise<void> {
    for (const request of late) await request()
    late = []
    await world.pass(minutes)
  }

  function send(delivery: Arrival['delivery']): void {
    const deliveryId = randomUUID()
    for (const [index, project] of projects.entries()) {
      const mode = modes[index]
      if (mode === 'none' || (mode === 'some' && deliveries.delay === null)) continue
      if (!project.connection) continue
      const delay = deliveries.delay ?? 0
      const connectionId = project.connection.id
      transits.push({ at: now + delay, project, connectionId, deliveryId, delivery })
      for (const { delay, isRedelivery } of deliveries.copies) {
        transits.push({
          at: now + delay,
          project,
          connectionId,
          deliveryId: isRedelivery ? deliveryId : randomUUID(),
          delivery,
        })
      }
    }
  }

  async function arrive(until = now): Promise<void> {
    const due = transits.filter(({ at }) => at <= until)
    for (const transit of due) {
      transits.splice(transits.indexOf(transit), 1)
      await world.receive(transit.project, transit)
    }
  }

  /** Everything arrives, is applied, and is written. What was refused is tried again by somebody. */
  async function finish(): Promise<void> {
    // While the host limits its token, a project cannot be connected.
    await pass(MINUTES)
    for (const project of projects) await turnAllOn(world, project)
    for (let round = 0; round < MAX_ROUNDS; round++) {
      await pass(MINUTES)
      await arrive(Number.POSITIVE_INFINITY)
      deliveries = { delay: 0, copies: [] }
      for (const project of projects) {
        await world.work(project, { what: 'apply' })
        await world.work(project, { what: 'write' })
        await retryAll(world, project)
      }
      if (transits.length === 0 && (await isIdle())) return
    }
    throw new Error('It does not come to an end.')
  }

  async function isIdle(): Promise<boolean> {
    const [row] = await world.query(
      `select exists (select from deliveries where connection_id = any($1) and outcome = 'pending')
         or exists (select from codehost_writes where connection_id = any($1) and status = 'pending') as is_any`,
      [projects.map(({ connection }) => connection?.id)],
    )
    return !row.is_any
  }
}

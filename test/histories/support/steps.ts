import fc from 'fast-check'
import { type AT_REQUESTS, type Interruption, interruptions } from './interruptions.ts'
import { weighted } from './weighted.ts'

/** A step of a history. Numbers select among what there is then, counted around. */
export type Step = ActionStep | Wait

export type ActionStep = ChangeThere | ChangeHere | Work

/** A change at the code host by somebody else. */
export interface ChangeThere {
  where: 'there'
  what:
    | 'open'
    | 'open pull'
    | 'edit'
    | 'label'
    | 'close or reopen'
    | 'merge'
    | 'draft'
    | 'delete'
    | 'transfer'
    | 'comment'
    | 'edit comment'
    | 'delete comment'
  item: number
  comment: number
  /** 0: in the same second as the change before. */
  seconds: number
  deliveries: Deliveries
}

/** A change by a caller of the API. */
export interface ChangeHere {
  where: 'here'
  project: number
  what:
    | 'complete or reopen'
    | 'start'
    | 'priority'
    | 'comment'
    | 'private comment'
    | 'edit comment'
    | 'delete comment'
    | 'delete'
    | 'restore'
    | 'merge'
    | 'unmerge'
    | 'retry'
    | 'replay'
    | 'write back'
    | 'connection'
    | 'access'
  item: number
  comment: number
}

/** A new instance does what is due. */
export interface Work {
  where: 'worker'
  project: number
  what: 'apply' | 'write' | 'poll' | 'full run'
  interruption: Interruption | null
  /** Of what it writes to the code host. */
  deliveries: Deliveries
}

interface Wait {
  where: 'nowhere'
  minutes: number
}

/** What becomes of the deliveries of a change. */
export interface Deliveries {
  /** They arrive after so many further steps; null: never. */
  delay: number | null
  copies: { delay: number; isRedelivery: boolean }[]
}

interface Circumstances {
  projects: number
  /** Whether deliveries can be lost, and whether anything is polled before the end. */
  isLossy: boolean
}

/** Random histories. */
export const histories = (circumstances: Circumstances) => {
  const there = changesThere(circumstances)
  const here = changesHere(circumstances)
  const undisturbed = workOf(circumstances, WORKS)
  const by = fc.oneof(there, there, here, here, undisturbed)
  const disturbed = (works: Work['what'][]) => workOf(circumstances, works, by)
  // Followed by its work: otherwise most instances have nothing to do.
  const steps = fc.oneof(
    { weight: 3, arbitrary: fc.tuple(there) },
    { weight: 2, arbitrary: fc.tuple(here) },
    { weight: 3, arbitrary: fc.tuple(there, disturbed(['apply', 'poll', 'full run'])) },
    { weight: 5, arbitrary: fc.tuple(here, disturbed(['write'])) },
    { weight: 1, arbitrary: retried(circumstances) },
    { weight: 1, arbitrary: fc.tuple(disturbed(WORKS)) },
    { weight: 1, arbitrary: fc.tuple(undisturbed) },
    { weight: 1, arbitrary: fc.tuple(waits) },
  )
  return fc.array(steps, { minLength: 3, maxLength: 12, size: 'max' }).map((steps): Step[] => steps.flat())
}

const changesThere = ({ isLossy }: Circumstances): fc.Arbitrary<ChangeThere> =>
  fc.record({
    where: fc.constant('there' as const),
    what: weighted<ChangeThere['what']>({
      edit: 3,
      'close or reopen': 5,
      comment: 4,
      'edit comment': 4,
      'delete comment': 3,
      open: 1,
      'open pull': 1,
      label: 1,
      merge: 1,
      draft: 1,
      delete: 1,
      transfer: 1,
    }),
    item: fc.nat(3),
    comment: fc.nat(3),
    seconds: fc.constantFrom(0, 0, 1, 7),
    deliveries: deliveries({ isLossy }),
  })

const changesHere = ({ projects, isLossy }: Circumstances): fc.Arbitrary<ChangeHere> =>
  fc.record({
    where: fc.constant('here' as const),
    project: fc.nat(projects - 1),
    what: weighted<ChangeHere['what']>({
      'complete or reopen': 6,
      comment: 4,
      'edit comment': 4,
      'delete comment': 3,
      start: 1,
      priority: 1,
      'private comment': 1,
      delete: 1,
      restore: 1,
      merge: 1,
      unmerge: 1,
      retry: 3,
      replay: 1,
      'write back': 1,
      access: 2,
      // What is delivered while it is disconnected is lost.
      ...(isLossy && { connection: 1 }),
    }),
    item: fc.nat(3),
    comment: fc.nat(3),
  })

/** A change whose request takes effect, now or later, and gets no response, and somebody who does not wait. */
const retried = ({ projects, isLossy }: Circumstances): fc.Arbitrary<Step[]> =>
  fc
    .record({
      about: fc.record({ project: fc.nat(projects - 1), item: fc.nat(3), comment: fc.nat(3) }),
      what: fc.constantFrom<ChangeHere['what'][]>('comment', 'edit comment', 'complete or reopen'),
      how: fc.constantFrom<(typeof AT_REQUESTS)[number][]>('arrives late', 'response lost'),
      reaction: weighted<ChangeHere['what']>({
        retry: 3,
        'write back': 1,
        access: 1,
        ...(isLossy && { connection: 1 }),
      }),
      deliveries: deliveries({ isLossy, lostOf: 1 }),
    })
    .map(({ about, what, how, reaction, deliveries }) => {
      const change = { where: 'here' as const, ...about }
      const work = { where: 'worker' as const, what: 'write' as const, project: about.project, deliveries }
      return [
        { ...change, what },
        { ...work, interruption: { at: 'request', nth: 1, how } },
        { ...change, what: reaction },
        { ...work, interruption: null },
      ]
    })

const WORKS: Work['what'][] = ['apply', 'write', 'poll', 'full run']

/** How many requests and statements each has at most, in most histories. */
const LENGTHS: Record<Work['what'], { requests: number; statements: number; weight: number }> = {
  apply: { requests: 1, statements: 25, weight: 3 },
  write: { requests: 3, statements: 40, weight: 5 },
  poll: { requests: 4, statements: 40, weight: 2 },
  'full run': { requests: 7, statements: 70, weight: 1 },
}

/** @param by what may overlap it; undefined: it is not disturbed */
const workOf = (
  { projects, isLossy }: Circumstances,
  works: Work['what'][],
  by?: fc.Arbitrary<ActionStep>,
): fc.Arbitrary<Work> =>
  fc.oneof(
    ...works
      .filter((what) => isLossy || what === 'apply' || what === 'write')
      .map((what) => ({
        weight: LENGTHS[what].weight,
        arbitrary: fc.record({
          where: fc.constant('worker' as const),
          project: fc.nat(projects - 1),
          what: fc.constant(what),
          interruption: by ? interruptions(LENGTHS[what], by) : fc.constant(null),
          // Half of them are lost: then only what was stored before shows what has arrived.
          deliveries: deliveries({ isLossy, lostOf: 2 }),
        }),
      })),
  )

const waits: fc.Arbitrary<Wait> = fc.record({
  where: fc.constant('nowhere' as const),
  minutes: fc.constantFrom(1, 3, 60),
})

/** @param lostOf one of so many is lost */
const deliveries = ({
  isLossy,
  lostOf = 3,
}: Pick<Circumstances, 'isLossy'> & { lostOf?: number }): fc.Arbitrary<Deliveries> =>
  fc.record({
    delay: isLossy ? fc.option(fc.nat(4), { freq: lostOf }) : fc.nat(4),
    copies: fc.array(fc.record({ delay: fc.nat(6), isRedelivery: fc.boolean() }), { maxLength: 1 }),
  })

import { type Static, Type } from '@sinclair/typebox'
import { Claim } from './claim.ts'
import { StrictObject, Uuid } from './parts.ts'
import { Source, WrittenTask } from './task.ts'
import { LIST_DECIDES, TaskChange } from './task-requests.ts'

const LeaseSeconds = Type.Integer({
  minimum: 30,
  maximum: 86_400,
  default: 900,
  description: 'How long the claim lasts unless you renew it, in seconds: from 30 to 86,400 (a day).',
})

const ClaimNumber = (description: string) =>
  Type.Integer({ minimum: 1, maximum: 2_147_483_647, description, examples: [3] })

const lease = { leaseSeconds: Type.Optional(LeaseSeconds) }

export const NextClaim = StrictObject(
  {
    projectId: Type.Optional(Uuid('Only a task in this project.')),
    listId: Type.Optional(Uuid('Only a task in this list.')),
    label: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'Only a task with this label, ignoring case.',
      }),
    ),
    source: Type.Optional(Source('Only a task from this source.')),
    ...lease,
  },
  { $id: 'NextClaim', description: 'Which tasks can be claimed, and for how long.' },
)
export type NextClaim = Static<typeof NextClaim>

export const NewClaim = StrictObject(lease, { $id: 'NewClaim', description: 'How long to claim the task.' })
export type NewClaim = Static<typeof NewClaim>

export const ClaimRenewal = StrictObject(
  { number: ClaimNumber('The number of your claim.'), ...lease },
  { $id: 'ClaimRenewal', description: 'The claim to renew, and for how long from now.' },
)
export type ClaimRenewal = Static<typeof ClaimRenewal>

export const ClaimRelease = StrictObject(
  { number: ClaimNumber('The number of your claim.') },
  { description: 'The claim to release.' },
)
export type ClaimRelease = Static<typeof ClaimRelease>

export const ClaimedTask = Type.Object(
  { ...WrittenTask.properties, claim: Claim },
  {
    $id: 'ClaimedTask',
    description: 'A claimed task. Keys without `tasks:read` only get `id`, `version` and `claim`.',
  },
)
export type ClaimedTask = Static<typeof ClaimedTask>

export const TaskPatch = StrictObject(
  {
    ...TaskChange.properties,
    claimNumber: Type.Optional(
      ClaimNumber(
        'The number of your claim. Without it, the change is made whoever has claimed the task. With it, only while the claim is valid.',
      ),
    ),
  },
  {
    $id: 'TaskPatch',
    description: 'The fields to update, and the claim that you hold. Omitted fields keep their values.',
    'x-advice': LIST_DECIDES,
  },
)
export type TaskPatch = Static<typeof TaskPatch>

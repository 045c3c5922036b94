import { type Static, Type } from '@sinclair/typebox'
import { ProjectCodehost } from './codehost.ts'
import {
  Cursor,
  DateTime,
  Limit,
  Nullable,
  PageOf,
  ref,
  StrictObject,
  StringEnum,
  TrimmedString,
  Uuid,
} from './parts.ts'

const Name = TrimmedString(100, {
  description: 'The name, 1 to 100 characters after trimming.',
  examples: ['Mobile app'],
})

const GroupFeedback = StringEnum(['off', 'suggest', 'auto'], {
  description:
    'What happens to feedback that resembles other feedback of the project. `suggest` shows it, `off` doesn’t. `auto` also merges new feedback into the oldest open feedback whose note is the same, ignoring case, space and punctuation.',
})

const Triage = StringEnum(['on', 'off'], {
  description:
    'Whether tasks that arrive from other systems are to be triaged. With `off`, all arrive triaged; those that are still to be triaged stay so.',
})

export const Project = Type.Object(
  {
    id: Uuid('The ID of the project.'),
    name: Type.String({ description: 'The name of the project.' }),
    archivedAt: Nullable(DateTime('When the project was archived, or null if it is active.')),
    groupFeedback: GroupFeedback,
    triage: Triage,
    openCount: Type.Integer({ description: 'The number of tasks that aren’t done, also snoozed ones.' }),
    createdAt: DateTime('When the project was created.'),
    updatedAt: DateTime('When the project was last changed, archived or unarchived.'),
    codehost: Nullable(ProjectCodehost),
  },
  { $id: 'Project', description: 'A group of lists.' },
)
export type Project = Static<typeof Project>

export const ProjectPage = PageOf(ref(Project), { description: 'A page of projects.' })

export const NewProject = StrictObject(
  {
    name: Name,
    groupFeedback: Type.Optional({ ...GroupFeedback, default: 'suggest' }),
    triage: Type.Optional({ ...Triage, default: 'on' }),
  },
  { $id: 'NewProject', description: 'The project to create.' },
)
export type NewProject = Static<typeof NewProject>

export const ProjectChange = StrictObject(
  {
    name: Type.Optional(Name),
    groupFeedback: Type.Optional(GroupFeedback),
    triage: Type.Optional(Triage),
  },
  { $id: 'ProjectChange', description: 'The fields to update.' },
)
export type ProjectChange = Static<typeof ProjectChange>

export const ProjectQuery = StrictObject(
  {
    archived: Type.Optional(
      Type.Boolean({
        description: 'Whether to return only archived or only active projects. Returns both by default.',
      }),
    ),
    limit: Type.Optional(Limit),
    cursor: Type.Optional(Cursor),
  },
  { description: 'Filters and pagination.' },
)
export type ProjectQuery = Static<typeof ProjectQuery>

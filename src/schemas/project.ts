import { type Static, Type } from '@sinclair/typebox'
import { ProjectCodehost } from './codehost.ts'
import { Cursor, DateTime, Limit, Nullable, PageOf, ref, StrictObject, TrimmedString, Uuid } from './parts.ts'

const Name = TrimmedString(100, 'What people call it. 1 to 100 characters after trimming.', ['Mobile app'])

export const Project = Type.Object(
  {
    id: Uuid('Identifier of the project.'),
    name: Type.String({ description: 'What people call it.' }),
    archivedAt: Nullable(DateTime('When it was archived; null while it is in use.')),
    openCount: Type.Integer({ description: 'How many of its tasks are not done.' }),
    createdAt: DateTime('When it was made.'),
    updatedAt: DateTime('When it was last renamed, archived or unarchived.'),
    codehost: Nullable(ProjectCodehost),
  },
  { $id: 'Project', description: 'A group of lists.' },
)
export type Project = Static<typeof Project>

export const ProjectPage = PageOf(ref(Project), 'A page of projects.')

export const NewProject = StrictObject(
  { name: Name },
  { $id: 'NewProject', description: 'A project to be made.' },
)
export type NewProject = Static<typeof NewProject>

export const ProjectChange = StrictObject(
  { name: Type.Optional(Name) },
  { $id: 'ProjectChange', description: 'What is to change; what is left out stays.' },
)
export type ProjectChange = Static<typeof ProjectChange>

export const ProjectQuery = StrictObject(
  {
    archived: Type.Optional(
      Type.Boolean({ description: 'Only archived projects, or only those in use. Left out: both.' }),
    ),
    limit: Type.Optional(Limit),
    cursor: Type.Optional(Cursor),
  },
  { description: 'Filter and page.' },
)
export type ProjectQuery = Static<typeof ProjectQuery>

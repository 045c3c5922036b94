import { type Static, Type } from '@sinclair/typebox'
import { Cursor, DateTime, Limit, Nullable, PageOf, ref, StrictObject, TrimmedString, Uuid } from './parts.ts'
import { Actor } from './task.ts'

/** Maximum of rules for all projects together, and for each project. */
export const MAX_RULES = 1_000

const Content = TrimmedString(
  8_000,
  'The instruction the assistant follows, as Markdown. 1 to 8,000 characters after trimming.',
  ['Run the tests before you say that something works.'],
)
const priorityMeaning = 'Any finite number; higher is listed first. Ties go by time of creation.'

const state = {
  content: Type.String({ description: 'The instruction the assistant follows.' }),
  priority: Type.Number({ description: 'Higher is listed first.' }),
  isActive: Type.Boolean({ description: 'Only active rules are given to assistants.' }),
}

export const Rule = Type.Object(
  {
    id: Uuid('Identifier of the rule.'),
    ...state,
    projectId: Nullable(Uuid('The project it applies to; null when it applies to all.')),
    version: Type.Integer({ description: 'Grows by one with each change; the ETag.' }),
    createdAt: DateTime('When it was made.'),
    updatedAt: DateTime('When it last changed.'),
    updatedBy: ref(Actor),
  },
  { $id: 'Rule', description: 'A standing instruction for AI assistants.' },
)
export type Rule = Static<typeof Rule>

export const RuleList = PageOf(
  ref(Rule),
  'All rules that apply, in one answer: priority descending, then time of creation, then id.',
  // Up to a thousand rules for all projects, and a thousand of one project.
  2_000,
)
export type RuleList = Static<typeof RuleList>

export const RuleVersion = Type.Object(
  {
    version: Type.Integer({ description: 'The version this state had.' }),
    ...state,
    createdAt: DateTime('When it became so.'),
    createdBy: ref(Actor),
  },
  { $id: 'RuleVersion', description: 'What a rule was at one version.' },
)
export type RuleVersion = Static<typeof RuleVersion>

export const RuleVersionPage = PageOf(ref(RuleVersion), 'A page of versions, newest first.')

export const NewRule = StrictObject(
  {
    content: Content,
    priority: Type.Optional(Type.Number({ default: 0, description: priorityMeaning, examples: [10] })),
    isActive: Type.Optional(
      Type.Boolean({ default: true, description: 'False keeps it back until it is switched on.' }),
    ),
    projectId: Type.Optional(
      Nullable(Uuid('The project it applies to; null for all. Left out: the project of your key, else all.')),
    ),
  },
  { $id: 'NewRule', description: 'A rule to be made.' },
)
export type NewRule = Static<typeof NewRule>

export const RuleChange = StrictObject(
  {
    content: Type.Optional(Content),
    priority: Type.Optional(Type.Number({ description: priorityMeaning, examples: [10] })),
    isActive: Type.Optional(Type.Boolean({ description: 'False switches it off without deleting it.' })),
  },
  { $id: 'RuleChange', description: 'What is to change; what is left out stays.' },
)
export type RuleChange = Static<typeof RuleChange>

export const RuleRevert = StrictObject(
  {
    version: Type.Integer({
      minimum: 1,
      maximum: 2_147_483_647,
      description: 'The version whose content, priority and isActive it is to have again.',
    }),
  },
  { $id: 'RuleRevert', description: 'Where to go back to.' },
)
export type RuleRevert = Static<typeof RuleRevert>

export const RuleQuery = StrictObject(
  {
    projectId: Type.Optional(Uuid('Also the rules of this project.')),
    includeInactive: Type.Optional(
      Type.Boolean({ default: false, description: 'Also those that are switched off.' }),
    ),
  },
  { description: 'Which rules.' },
)
export type RuleQuery = Static<typeof RuleQuery>

export const RuleVersionQuery = StrictObject(
  { limit: Type.Optional(Limit), cursor: Type.Optional(Cursor) },
  { description: 'The page.' },
)
export type RuleVersionQuery = Static<typeof RuleVersionQuery>

import { type Static, Type } from '@sinclair/typebox'
import { Cursor, DateTime, Limit, Nullable, PageOf, ref, StrictObject, TrimmedString, Uuid } from './parts.ts'
import { Actor } from './task.ts'

/** Maximum of rules for all projects together, and for each project. */
export const MAX_RULES = 1_000

const Content = TrimmedString(8_000, {
  description: 'The instruction for AI assistants, in Markdown. 1 to 8,000 characters after trimming.',
  examples: ['Run the tests before you say that something works.'],
})
const priorityMeaning =
  'The priority: any finite number. Higher priorities come first; rules with the same priority are sorted by creation time.'

const PATHS_MEANING =
  'Globs of the files that the rule is about, such as `src/**/*.ts`, relative to the root of the repository.'
const Paths = Type.Array(
  Type.String({ minLength: 1, maxLength: 200, 'x-trim': true, description: 'A glob.' }),
  {
    maxItems: 20,
    description: `${PATHS_MEANING} Without any, it always applies.`,
    examples: [['src/**/*.ts']],
  },
)

const state = {
  content: Type.String({ description: 'The instruction for AI assistants.' }),
  priority: Type.Number({ description: 'The priority. Higher priorities come first.' }),
  isActive: Type.Boolean({ description: 'Whether the rule is active. Assistants only get active rules.' }),
  paths: Type.Array(Type.String({ description: 'A glob.' }), {
    maxItems: 20,
    description: `${PATHS_MEANING} If there are none, it always applies.`,
  }),
}

export const Rule = Type.Object(
  {
    id: Uuid('The ID of the rule.'),
    ...state,
    projectId: Nullable(Uuid('The project that the rule applies to, or null for all projects.')),
    version: Type.Integer({
      description: 'The version, which is also the ETag. It increases by one with each change.',
    }),
    createdAt: DateTime('When the rule was created.'),
    updatedAt: DateTime('When the rule was last updated.'),
    updatedBy: ref(Actor),
  },
  { $id: 'Rule', description: 'A standing instruction for AI assistants.' },
)
export type Rule = Static<typeof Rule>

export const RuleList = PageOf(ref(Rule), {
  description: 'All rules, sorted by priority (highest first), then creation time, then ID.',
  // Up to a thousand rules for all projects, and a thousand of each project.
  maxItems: 1_000_000,
})
export type RuleList = Static<typeof RuleList>

export const RuleVersion = Type.Object(
  {
    version: Type.Integer({ description: 'The number of this version.' }),
    ...state,
    createdAt: DateTime('When this version was created.'),
    createdBy: ref(Actor),
  },
  { $id: 'RuleVersion', description: 'A rule as of one version.' },
)
export type RuleVersion = Static<typeof RuleVersion>

export const RuleVersionPage = PageOf(ref(RuleVersion), { description: 'A page of versions, newest first.' })

export const NewRule = StrictObject(
  {
    content: Content,
    priority: Type.Optional(Type.Number({ default: 0, description: priorityMeaning, examples: [10] })),
    isActive: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'Whether the rule is active. Assistants don’t get inactive rules.',
      }),
    ),
    paths: Type.Optional(Paths),
    projectId: Type.Optional(
      Nullable(
        Uuid(
          'The project that the rule applies to, or null for all projects. Defaults to the project that you can access, if it is only one, or else to all projects.',
        ),
      ),
    ),
  },
  { $id: 'NewRule', description: 'The rule to create.' },
)
export type NewRule = Static<typeof NewRule>

export const RuleChange = StrictObject(
  {
    content: Type.Optional(Content),
    priority: Type.Optional(Type.Number({ description: priorityMeaning, examples: [10] })),
    isActive: Type.Optional(
      Type.Boolean({ description: 'Set to false to turn off the rule without deleting it.' }),
    ),
    paths: Type.Optional(Paths),
  },
  { $id: 'RuleChange', description: 'The fields to update. Omitted fields keep their values.' },
)
export type RuleChange = Static<typeof RuleChange>

export const RuleRevert = StrictObject(
  {
    version: Type.Integer({
      minimum: 1,
      maximum: 2_147_483_647,
      description: 'The version to restore the content, priority, `isActive` and `paths` from.',
    }),
  },
  { $id: 'RuleRevert', description: 'The version to restore.' },
)
export type RuleRevert = Static<typeof RuleRevert>

export const RuleQuery = StrictObject(
  {
    projectId: Type.Optional(Uuid('Returns only the rules that apply to this project.')),
    includeInactive: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether to include inactive rules.' }),
    ),
  },
  { description: 'Filters.' },
)
export type RuleQuery = Static<typeof RuleQuery>

export const RuleVersionQuery = StrictObject(
  { limit: Type.Optional(Limit), cursor: Type.Optional(Cursor) },
  { description: 'Pagination.' },
)
export type RuleVersionQuery = Static<typeof RuleVersionQuery>

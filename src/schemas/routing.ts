import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable, PageOf, ref, StrictObject, StringEnum, TrimmedString, Uuid } from './parts.ts'

export const MatchedOn = ['both', 'app', 'project', 'project_name', 'default'] as const
export type MatchedOn = (typeof MatchedOn)[number]

const Name = TrimmedString(100, {
  description: 'The name, 1 to 100 characters after trimming.',
  examples: ['iOS app'],
})
const ProjectMatch = TrimmedString(255, {
  description: 'Matches the event’s `project_id` or `project_name`, ignoring case.',
  examples: ['mobile'],
})
const AppMatch = TrimmedString(255, {
  description: 'Matches the event’s `bundle_id` or `app_id`, ignoring case.',
  examples: ['com.example.app'],
})
const Position = Type.Integer({
  minimum: 0,
  maximum: 1_000_000,
  description: 'The position, starting at 0. The first of several equal matches wins.',
  examples: [0],
})
const IsActive = (extra: { default?: boolean } = {}) =>
  Type.Boolean({ description: 'Whether the rule is active.', ...extra })
const Target = Uuid('The project that feedback goes to, in its list "User Feedback".')

export const RoutingRule = Type.Object(
  {
    id: Uuid('The ID of the rule.'),
    name: Nullable(Type.String({ description: 'The name of the rule.' })),
    projectMatch: Nullable(Type.String({ description: 'The project that the rule matches.' })),
    appMatch: Nullable(Type.String({ description: 'The app that the rule matches.' })),
    targetProjectId: Target,
    position: Type.Integer({ description: 'The position, starting at 0.' }),
    isActive: IsActive(),
    createdAt: DateTime('When the rule was created.'),
    updatedAt: DateTime('When the rule was last updated.'),
  },
  {
    $id: 'RoutingRule',
    description: 'A routing rule: which project the feedback of a project, an app or both goes to.',
  },
)
export type RoutingRule = Static<typeof RoutingRule>

export const RoutingRulePage = PageOf(ref(RoutingRule), { description: 'A page of routing rules.' })

export const NewRoutingRule = StrictObject(
  {
    name: Type.Optional(Nullable(Name)),
    projectMatch: Type.Optional(Nullable(ProjectMatch)),
    appMatch: Type.Optional(Nullable(AppMatch)),
    targetProjectId: Target,
    position: Type.Optional(Position),
    isActive: Type.Optional(IsActive({ default: true })),
  },
  {
    $id: 'NewRoutingRule',
    description:
      'A routing rule. Set `projectMatch`, `appMatch` or both; if you set both, both must match. Without `position`, the rule is added at the end.',
  },
)
export type NewRoutingRule = Static<typeof NewRoutingRule>

export const RoutingRuleChange = StrictObject(
  {
    name: Type.Optional(Nullable(Name)),
    projectMatch: Type.Optional(Nullable(ProjectMatch)),
    appMatch: Type.Optional(Nullable(AppMatch)),
    targetProjectId: Type.Optional(Target),
    position: Type.Optional(Position),
    isActive: Type.Optional(IsActive()),
  },
  { $id: 'RoutingRuleChange', description: 'The fields to update.' },
)
export type RoutingRuleChange = Static<typeof RoutingRuleChange>

export const RoutingTest = Type.Object(
  {
    wouldCreate: Type.Boolean({ description: 'Whether the receiver would create a task.' }),
    projectId: Nullable(Uuid('The project that the task would go to.')),
    listName: Nullable(Type.String({ description: 'The list that the task would go to.' })),
    ruleId: Nullable(Uuid('The rule that matches, or null if none does.')),
    matchedOn: Nullable(StringEnum([...MatchedOn], { description: 'What the routing is based on.' })),
    explanation: Type.String({ description: 'The decision as text.' }),
    title: Nullable(Type.String({ description: 'The title that the task would have.' })),
    considered: Type.Array(
      Type.Object(
        {
          ruleId: Uuid('The rule.'),
          name: Nullable(Type.String({ description: 'The name of the rule.' })),
          outcome: StringEnum(['won', 'lost'], { description: 'Whether the rule was chosen.' }),
          reason: Type.String({ description: 'Why the rule was or wasn’t chosen.' }),
        },
        { description: 'A rule and its result.' },
      ),
      { description: 'All rules by position, and why each was or wasn’t chosen.' },
    ),
  },
  { $id: 'RoutingTest', description: 'How an event would be routed. Nothing is created.' },
)
export type RoutingTest = Static<typeof RoutingTest>

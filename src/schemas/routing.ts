import { type Static, Type } from '@sinclair/typebox'
import { DateTime, Nullable, PageOf, ref, StrictObject, StringEnum, TrimmedString, Uuid } from './parts.ts'

export const MatchedOn = ['both', 'app', 'project', 'project_name', 'default'] as const
export type MatchedOn = (typeof MatchedOn)[number]

const Name = TrimmedString(100, 'What people call it. 1 to 100 characters after trimming.', ['iOS app'])
const ProjectMatch = TrimmedString(
  255,
  'Compared with the event’s `project_id` and `project_name`, in any case.',
  ['mobile'],
)
const AppMatch = TrimmedString(255, 'Compared with the event’s `bundle_id` and `app_id`, in any case.', [
  'com.example.app',
])
const Position = Type.Integer({
  minimum: 0,
  maximum: 1_000_000,
  description: 'Its place among the rules, from 0; among equal matches the first one wins.',
  examples: [0],
})
const IsActive = (extra: { default?: boolean } = {}) =>
  Type.Boolean({ description: 'Whether it takes part.', ...extra })
const Target = Uuid('The project that feedback goes to, into its list "User Feedback".')

export const RoutingRule = Type.Object(
  {
    id: Uuid('Identifier of the rule.'),
    name: Nullable(Type.String({ description: 'What people call it.' })),
    projectMatch: Nullable(Type.String({ description: 'The project it matches.' })),
    appMatch: Nullable(Type.String({ description: 'The app it matches.' })),
    targetProjectId: Target,
    position: Type.Integer({ description: 'Its place among the rules, from 0.' }),
    isActive: IsActive(),
    createdAt: DateTime('When it was made.'),
    updatedAt: DateTime('When it last changed.'),
  },
  {
    $id: 'RoutingRule',
    description: 'Where feedback of a project, of an app, or of an app in a project goes.',
  },
)
export type RoutingRule = Static<typeof RoutingRule>

export const RoutingRulePage = PageOf(ref(RoutingRule), 'A page of routing rules.')

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
      'A routing rule to be made, with `projectMatch`, `appMatch` or both: then both have to match. Without `position` it comes last.',
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
  { $id: 'RoutingRuleChange', description: 'What is to change; what is left out stays.' },
)
export type RoutingRuleChange = Static<typeof RoutingRuleChange>

export const RoutingTest = Type.Object(
  {
    wouldCreate: Type.Boolean({ description: 'Whether the receiver would make a task of it.' }),
    projectId: Nullable(Uuid('The project it would go to.')),
    listName: Nullable(Type.String({ description: 'The list it would go to.' })),
    ruleId: Nullable(Uuid('The rule that decides; null when none does.')),
    matchedOn: Nullable(StringEnum([...MatchedOn], { description: 'What decides.' })),
    explanation: Type.String({ description: 'The decision in words.' }),
    title: Nullable(Type.String({ description: 'The title the task would have.' })),
    considered: Type.Array(
      Type.Object(
        {
          ruleId: Uuid('The rule.'),
          name: Nullable(Type.String({ description: 'Its name.' })),
          outcome: StringEnum(['won', 'lost'], { description: 'What became of it.' }),
          reason: Type.String({ description: 'Why.' }),
        },
        { description: 'A rule.' },
      ),
      { description: 'Every rule by position, and why it won or lost.' },
    ),
  },
  { $id: 'RoutingTest', description: 'What would become of an event. Nothing was changed.' },
)
export type RoutingTest = Static<typeof RoutingTest>

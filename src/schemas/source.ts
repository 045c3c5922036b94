import { type Static, Type } from '@sinclair/typebox'
import { Rotation } from './key.ts'
import {
  Cursor,
  DateTime,
  Limit,
  Nullable,
  PageOf,
  ref,
  SentSecret,
  StrictObject,
  StringEnum,
  TrimmedString,
  Uuid,
} from './parts.ts'

export const VerifyScheme = ['bearer', 'standard_webhooks', 'hmac_sha256_hex', 'token'] as const
export type VerifyScheme = (typeof VerifyScheme)[number]

export const SourceMapping = ['template', 'feedback'] as const
export type SourceMapping = (typeof SourceMapping)[number]

/** The members that a task can be without, and that no other value stands for. */
export const ClearableMember = ['description', 'labels', 'externalUrl'] as const
export type ClearableMember = (typeof ClearableMember)[number]

const MAX_TEMPLATE_LENGTH = 16_384

const Header = Type.String({
  pattern: '^[A-Za-z0-9-]{1,100}$',
  'x-words': 'the name of a header: 1 to 100 letters, digits, or hyphens',
  description:
    'The header with the signature or token. Required for `hmac_sha256_hex` and `token`, not supported for the others.',
  examples: ['Sentry-Hook-Signature'],
})
const Prefix = Type.String({
  minLength: 1,
  maxLength: 50,
  description: 'What the header has before the signature or token, if anything.',
  examples: ['sha256='],
})

export const Verify = StrictObject(
  {
    scheme: StringEnum([...VerifyScheme], {
      description:
        '`bearer`: `Authorization: Bearer <secret>`. `token`: a header with the secret. `hmac_sha256_hex`: a header with the HMAC-SHA256 of the body in hexadecimal. `standard_webhooks`: the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`.',
    }),
    header: Type.Optional(Nullable(Header)),
    prefix: Type.Optional(Nullable(Prefix)),
  },
  { description: 'How deliveries are verified.' },
)
export type Verify = Static<typeof Verify>

const template = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: MAX_TEMPLATE_LENGTH, description, examples: [example] })
const optionalTemplate = (description: string, example: string) =>
  Type.Optional(Nullable(template(description, example)))

const templates = StrictObject(
  {
    title: template('The title. Cut at 500 characters.', '{{ payload.data.event.title }}'),
    description: optionalTemplate(
      'The description in Markdown. Cut at 65,536 characters.',
      '{{ payload.message }}',
    ),
    priority: optionalTemplate(
      '`low`, `medium` or `high`.',
      '{% if payload.level == "fatal" %}high{% endif %}',
    ),
    labels: optionalTemplate(
      'The labels, separated by commas or line breaks.',
      'sentry, {{ payload.level }}',
    ),
    externalId: optionalTemplate(
      'The sender’s ID of what the task is about. A delivery with a known one updates its task.',
      '{{ payload.data.event.issue_id }}',
    ),
    externalUrl: optionalTemplate('An http or https URL.', '{{ payload.data.event.web_url }}'),
    status: optionalTemplate(
      '`open` reopens a done task, `done` completes it; nothing leaves it as it is.',
      '{% if payload.status == "resolved" %}done{% else %}open{% endif %}',
    ),
  },
  {
    $id: 'SourceTemplate',
    description:
      'Liquid templates with `payload`, the JSON that was sent, and `item`, an item of `each`. One that renders nothing is as if it were absent, unless `clears` names it. Required for the mapping `template`, null for `feedback`.',
  },
)
export const SourceTemplate = Nullable(templates)
/** Of a source that has templates. */
export type SourceTemplate = Static<typeof templates>
export type SourceTemplateMember = keyof SourceTemplate

const Each = Type.String({
  maxLength: 200,
  pattern: '^payload(\\.[A-Za-z0-9_-]+)*$',
  'x-words': 'a path that begins with payload, such as payload.alerts',
  description: 'The path to an array. Each of its items, at most 500, becomes a task.',
  examples: ['payload.alerts'],
})
const Filter = Type.String({
  minLength: 1,
  maxLength: 2_000,
  description: 'A Liquid condition, as in `{% if %}`. What does not meet it creates no task.',
  examples: ['payload.action == "triggered"'],
})
const Mapping = StringEnum([...SourceMapping], {
  description:
    '`template`: the templates make the tasks. `feedback`: makes the tasks of the feedback receiver from its events. It has no `each`, `filter`, `template`, `clears`, or `listId`, because routing decides the project and the list. Cannot be changed.',
})
const Clears = Type.Array(
  StringEnum([...ClearableMember], { description: '`description`, `labels`, or `externalUrl`.' }),
  {
    maxItems: ClearableMember.length,
    description:
      'The members of the template that empty those of the task when they render nothing. The others keep their values.',
    examples: [['labels']],
  },
)
const Name = TrimmedString(100, {
  description: 'A name, 1 to 100 characters after trimming.',
  examples: ['Sentry'],
})
const SecretText = Type.String({
  minLength: 16,
  maxLength: 500,
  ...SentSecret,
  description:
    'The secret that the sender shows: 16 to 500 characters of ASCII without spaces. If omitted, one is created. For `standard_webhooks`, Base64, with or without `whsec_`.',
  examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
})
const ListId = Nullable(Uuid('The list of its tasks, or null for the project’s default list.'))
const IsActive = Type.Boolean({ description: 'Whether deliveries are accepted. Otherwise they get 401.' })

const source = {
  id: Uuid('The ID of the source.'),
  name: Type.String({ description: 'The name.' }),
  projectId: Uuid('The project of its tasks. With the mapping `feedback`, routing decides that.'),
  listId: ListId,
  verify: Type.Object(
    {
      scheme: StringEnum([...VerifyScheme], { description: 'How deliveries are verified.' }),
      header: Nullable(Type.String({ description: 'The header with the signature or token.' })),
      prefix: Nullable(Type.String({ description: 'What the header has before it.' })),
    },
    { description: 'How deliveries are verified.' },
  ),
  mapping: Mapping,
  each: Nullable(Each),
  filter: Nullable(Filter),
  template: ref(SourceTemplate),
  clears: Clears,
  isActive: IsActive,
  disabledReason: Nullable(
    StringEnum(['slow'], {
      description:
        'Why Inlet switched the source off: `slow` because ten deliveries in a row took too long to render. Null if it is active, or was switched off by a user.',
    }),
  ),
  url: Type.String({ description: 'The URL that the sender posts to.' }),
  createdAt: DateTime('When the source was created.'),
  updatedAt: DateTime('When the source was last updated.'),
}

export const Source = Type.Object(source, {
  $id: 'Source',
  description: 'A system whose JSON becomes tasks.',
})
export type Source = Static<typeof Source>

export const SourceWithSecret = Type.Object(
  { ...source, secret: Type.String({ description: 'The secret. It is only returned once.' }) },
  { $id: 'SourceWithSecret', description: 'A source with its new secret.' },
)
export type SourceWithSecret = Static<typeof SourceWithSecret>

export const SourcePage = PageOf(ref(Source), { description: 'A page of sources.' })

export const SourceQuery = StrictObject(
  {
    projectId: Type.Optional(Uuid('Only sources of this project.')),
    limit: Type.Optional(Limit),
    cursor: Type.Optional(Cursor),
  },
  { description: 'Filters and pagination.' },
)
export type SourceQuery = Static<typeof SourceQuery>

/** What decides which tasks a payload makes. */
const definition = {
  each: Type.Optional(Nullable(Each)),
  filter: Type.Optional(Nullable(Filter)),
  template: Type.Optional(ref(SourceTemplate)),
  clears: Type.Optional(Clears),
}

export const NewSource = StrictObject(
  {
    name: Name,
    projectId: source.projectId,
    listId: Type.Optional(ListId),
    verify: Verify,
    mapping: Type.Optional({ ...Mapping, default: 'template' }),
    ...definition,
    isActive: Type.Optional({ ...IsActive, default: true }),
    secret: Type.Optional(SecretText),
  },
  { $id: 'NewSource', description: 'The source to create.' },
)
export type NewSource = Static<typeof NewSource>

export const SourceChange = StrictObject(
  {
    name: Type.Optional(Name),
    listId: Type.Optional(ListId),
    verify: Type.Optional(Verify),
    ...definition,
    isActive: Type.Optional(IsActive),
  },
  { $id: 'SourceChange', description: 'The fields to update. Omitted fields keep their values.' },
)
export type SourceChange = Static<typeof SourceChange>

export const SourceRotation = StrictObject(
  { ...Rotation.properties, secret: Type.Optional(SecretText) },
  { $id: 'SourceRotation', description: 'How to rotate the secret of a source.' },
)
export type SourceRotation = Static<typeof SourceRotation>

import { Type } from '@sinclair/typebox'
import { NewActivity, TYPE } from './activity.ts'
import { NewComment } from './comment.ts'
import { NewApiKey } from './key.ts'
import { NewList } from './list.ts'
import { Nullable } from './parts.ts'
import { NewProject } from './project.ts'
import { NewRoutingRule } from './routing.ts'
import { NewRule } from './rule.ts'
import { NewSource, SourceTemplate, Verify } from './source.ts'
import { Task } from './task.ts'
import { NewTask, TaskChange } from './task-requests.ts'
import { Email, PersonName, ProjectIds } from './user.ts'
import { NewWebhook } from './webhook.ts'

/*
 * The limits of the lines of an import, which come on top of the types of their columns. What callers set has the limits
 * of the API; what the service sets has those that its own values keep.
 */

/** The database stores up to 2,147,483,647: what counts changes has to have room for more of them. */
const Counter = (minimum: number) =>
  Type.Integer({ minimum, maximum: 1_000_000_000, description: 'A number that each change increases.' })

/** Of a key, an account of the code host, or the service itself. */
const ActorName = NewApiKey.properties.name
const Url = NewTask.properties.externalUrl
const ItemNumber = Type.Integer({
  minimum: 1,
  maximum: 2_147_483_647,
  description: 'The number of an issue or pull request.',
})

/** What other systems attach is larger than what callers may. A line has 4 MiB. */
const ReceivedJson = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  'x-json': { maxBytes: 2 * 1024 * 1024, maxDepth: 120 },
  description: 'Data of the service or of another system.',
})
/** Texts of other systems are limited in bytes. */
const ReceivedText = Type.String({ description: 'A text in Markdown.' })

/** The code host has more reasons. */
const { closedReason: _, ...changed } = TaskChange.properties

const task = {
  ...changed,
  externalId: NewTask.properties.externalId,
  codehostNumber: Nullable(ItemNumber),
  authorName: Nullable(ActorName),
  authorUrl: Url,
  createdByName: ActorName,
  version: Counter(1),
  noteKey: Nullable(Type.String({ maxLength: 22, description: 'A hash of the note.' })),
  claimNumber: Counter(0),
  claimedByName: Nullable(ActorName),
  question: Task.properties.question,
}

const comment = { authorName: ActorName, authorUrl: Url, externalUrl: Url }

const SyncPosition = Nullable(
  Type.Object(
    {
      since: Nullable(Type.String({ maxLength: 35, description: 'A time of the code host.' })),
      url: Type.String({ maxLength: 8_192, description: 'The latest request.' }),
      etag: Nullable(Type.String({ maxLength: 8_192, description: 'Of its response.' })),
      next: Nullable(Type.String({ maxLength: 8_192, description: 'The next request.' })),
    },
    { description: 'Where the next sync continues.' },
  ),
)

const rule = {
  content: NewRule.properties.content,
  paths: NewRule.properties.paths,
  version: Counter(1),
}

const limits = {
  project: { name: NewProject.properties.name },
  projectDeletion: { actorName: ActorName },
  list: { name: NewList.properties.name, position: Counter(0) },
  listDeletion: { actorName: ActorName },
  user: {
    username: Type.String({
      pattern: '^(?!(me|none)$)[a-z0-9-]{2,39}$',
      'x-words': '2 to 39 characters of a-z, 0-9 and hyphen, and not reserved',
      description: 'The name to sign in with.',
    }),
    name: PersonName,
    email: Nullable(Email),
    projectIds: Nullable(ProjectIds('The projects that the person can access, or null for all.')),
  },
  task,
  /** A task of the code host or of the feedback receiver. */
  receivedTask: { ...task, description: Nullable(ReceivedText), metadata: ReceivedJson },
  comment: { ...comment, body: NewComment.properties.body },
  /** A comment of the code host. */
  receivedComment: { ...comment, body: ReceivedText },
  rule: { ...rule, updatedByName: ActorName },
  ruleVersion: { ...rule, actorName: ActorName },
  routingRule: {
    name: NewRoutingRule.properties.name,
    projectMatch: NewRoutingRule.properties.projectMatch,
    appMatch: NewRoutingRule.properties.appMatch,
    position: Counter(0),
  },
  activity: {
    type: Type.String({ ...TYPE, description: 'The type of activity.' }),
    message: NewActivity.properties.message,
    actorName: ActorName,
    metadata: ReceivedJson,
  },
  purgedItem: { codehostNumber: ItemNumber },
  source: {
    name: NewSource.properties.name,
    header: Verify.properties.header,
    prefix: Verify.properties.prefix,
    each: NewSource.properties.each,
    filter: NewSource.properties.filter,
    template: SourceTemplate,
    clears: NewSource.properties.clears,
  },
  connection: {
    repository: Type.String({ minLength: 1, maxLength: 201, description: 'The repository as `owner/name`.' }),
    apiUrl: Type.String({ format: 'uri', maxLength: 2_048, description: 'The API URL of the code host.' }),
    position: SyncPosition,
    commentsPosition: SyncPosition,
  },
  webhook: {
    name: NewWebhook.properties.name,
    url: NewWebhook.properties.url,
    types: NewWebhook.properties.types,
  },
  label: {
    name: Type.String({ maxLength: 300, description: 'The label in lower case.' }),
    label: Type.String({ maxLength: 100, description: 'The label.' }),
    color: Type.String({
      pattern: '^[0-9a-f]{6}$',
      'x-words': 'six hexadecimal digits',
      description: 'A color.',
    }),
  },
}

/** By kind of line. Members that an import may leave out are missing from some, so none is required here. */
export const importLines = Object.fromEntries(
  Object.entries(limits).map(([kind, members]) => [
    kind,
    Type.Partial(Type.Object(members, { description: 'A line of an import.' })),
  ]),
)

import { type Static, Type } from '@sinclair/typebox'
import { Cursor, DateTime, Limit, Nullable, PageOf, ref, StrictObject, StringEnum, Uuid } from './parts.ts'
import { Actor } from './task.ts'

const Body = Type.String({
  minLength: 1,
  maxLength: 65_536,
  pattern: '\\S',
  'x-words': 'more than white space',
  description: 'The text in Markdown: 1 to 65,536 characters, not only white space.',
  examples: ['Reproduced with build 812.'],
})

const CommentAuthor = Type.Object(
  {
    ...Actor.properties,
    url: Nullable(Type.String({ description: 'The URL of the author at the code host.' })),
  },
  { description: 'The author of a comment. `id` is the key, also for its sessions.' },
)

const content = {
  id: Uuid('The ID of the comment.'),
  taskId: Uuid('The task that the comment is on.'),
  body: Type.String({ description: 'The text in Markdown.' }),
  author: CommentAuthor,
  isPublic: Type.Boolean({
    description:
      'Whether the comment is posted to the code host, if `writeBack` of the connection is `comments`. Comments are internal by default.',
  }),
  externalUrl: Nullable(Type.String({ description: 'The URL of the comment at the code host.' })),
  createdAt: DateTime('When the comment was written.'),
  updatedAt: DateTime('When the comment was last changed.'),
}

export const Comment = Type.Object(content, { $id: 'Comment', description: 'A comment on a task.' })
export type Comment = Static<typeof Comment>

export const WrittenComment = Type.Object(
  { ...Type.Partial(Comment).properties, id: content.id },
  {
    $id: 'WrittenComment',
    description: 'A written comment. Keys without `tasks:read` only get `id`.',
  },
)
export type WrittenComment = Static<typeof WrittenComment>

export const CommentPage = PageOf(ref(Comment), { description: 'A page of comments.' })

export const NewComment = StrictObject(
  {
    body: Body,
    isPublic: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Whether to post the comment to the code host, if `writeBack` of the connection is `comments`. It can’t be changed later.',
      }),
    ),
    needsAnswer: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Whether work on the task can’t go on without an answer. Ends your claim, and the task isn’t ready until somebody answers. Replaces an earlier question. Not for tasks that are done.',
      }),
    ),
  },
  { $id: 'NewComment', description: 'The comment to create.' },
)
export type NewComment = Static<typeof NewComment>

export const CommentChange = StrictObject(
  { body: Type.Optional(Body) },
  { $id: 'CommentChange', description: 'The fields to update. Omitted fields keep their values.' },
)
export type CommentChange = Static<typeof CommentChange>

export const CommentQuery = StrictObject(
  {
    sort: Type.Optional(
      StringEnum(['createdAt', '-createdAt'], {
        description: 'The sort order. A leading minus means descending.',
        default: 'createdAt',
      }),
    ),
    limit: Type.Optional(Limit),
    cursor: Type.Optional(Cursor),
  },
  { description: 'Sort order and pagination.' },
)
export type CommentQuery = Static<typeof CommentQuery>

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { refuseIdempotencyKey } from '../guards/idempotency-key.ts'
import { InvitePage, InviteWithSecret, NewInvite } from '../schemas/invite.ts'
import { IdPath, PageQuery, ref } from '../schemas/parts.ts'
import { emptyResponse, responses } from '../schemas/responses.ts'
import { ChangedUser, PersonPage, User, UserChange, UserPage, UserQuery } from '../schemas/user.ts'
import type { Services } from '../services/index.ts'
import { inviteOperations, invitePage } from '../services/people/invites.ts'
import { userOperations } from '../services/people/users.ts'

const tags = ['People']

interface PeopleOptions extends Pick<Services, 'users' | 'invites'> {
  publicUrl: string | undefined
}

/** Lists and changes people, and invites them. */
export const peopleRoutes: FastifyPluginAsyncTypebox<PeopleOptions> = async (app, options) => {
  const { users, invites, publicUrl } = options

  app.get(
    '/users',
    {
      config: { operation: userOperations.list, errors: ['invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listUsers',
        summary: 'List people who can sign in',
        description: 'Returns a page of people with their roles and projects, oldest first.',
        querystring: UserQuery,
        response: { 200: responses(UserPage, { description: 'A page of people.' }) },
      },
    },
    (request) => users.list(request.caller, request.query),
  )

  app.get(
    '/users/:id',
    {
      config: { operation: userOperations.get, errors: ['user_not_found'] },
      schema: {
        tags,
        operationId: 'getUser',
        summary: 'Retrieve a person',
        description: 'Returns a person with role and projects.',
        params: IdPath('person'),
        response: { 200: responses(ref(User), { description: 'The person.' }) },
      },
    },
    (request) => users.get(request.caller, request.params.id),
  )

  app.patch(
    '/users/:id',
    {
      config: {
        operation: userOperations.update,
        errors: ['user_not_found', 'project_not_found', 'project_archived', 'last_owner'],
      },
      schema: {
        tags,
        operationId: 'updateUser',
        summary: 'Change a person',
        description:
          'Changes the name, role or projects of a person, or deactivates the person. A change of role or projects counts from the next request on, and ends open streams. Deactivating ends the sessions and claims of the person at once. The last active owner stays one (409 `last_owner`). Needs an owner, or an admin key that doesn’t expire.',
        params: IdPath('person'),
        body: ref(UserChange),
        response: { 200: responses(ref(ChangedUser), { description: 'The person.' }) },
      },
    },
    (request) => users.update(request.caller, { id: request.params.id, change: request.body }),
  )

  app.get(
    '/people',
    {
      config: { operation: userOperations.listPeople, errors: ['invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listPeople',
        summary: 'List people of your projects',
        description: 'Returns a page of active people who can access a project that you can access.',
        querystring: PageQuery,
        response: { 200: responses(PersonPage, { description: 'A page of people.' }) },
      },
    },
    (request) => users.listPeople(request.caller, request.query),
  )

  app.post(
    '/invites',
    {
      preHandler: refuseIdempotencyKey,
      config: {
        operation: inviteOperations.create,
        errors: ['idempotency_not_supported', 'user_not_found', 'project_not_found', 'project_archived'],
      },
      schema: {
        tags,
        operationId: 'createInvite',
        summary: 'Invite a person',
        description:
          'Invites somebody new, or a person who has lost the password. The secret is only returned once; it works once, for 7 days, and only while who created the invite could still create it. Needs an owner, or an admin key that doesn’t expire.',
        body: ref(NewInvite),
        response: { 201: responses(ref(InviteWithSecret), { description: 'The invite with its secret.' }) },
      },
    },
    async (request, reply) => {
      const invite = await invites.create(request.caller, request.body)
      const url = publicUrl === undefined ? null : publicUrl + invitePage(invite)
      return reply.status(201).send({ ...invite, url })
    },
  )

  app.get(
    '/invites',
    {
      config: { operation: inviteOperations.list, errors: ['invalid_cursor'] },
      schema: {
        tags,
        operationId: 'listInvites',
        summary: 'List invites',
        description: 'Returns a page of invites that can be accepted, oldest first, without their secrets.',
        querystring: PageQuery,
        response: { 200: responses(InvitePage, { description: 'A page of invites.' }) },
      },
    },
    (request) => invites.list(request.caller, request.query),
  )

  app.delete(
    '/invites/:id',
    {
      config: { operation: inviteOperations.withdraw, errors: ['invite_not_found'] },
      schema: {
        tags,
        operationId: 'withdrawInvite',
        summary: 'Withdraw an invite',
        description: 'Withdraws an invite: nobody can accept it any more.',
        params: IdPath('invite'),
        response: { 204: emptyResponse('The invite is withdrawn.') },
      },
    },
    async (request, reply) => {
      await invites.withdraw(request.caller, request.params.id)
      return reply.status(204).send(null)
    },
  )
}

import { asRecord } from '../lib/as-record.ts'
import type { CodeHost, HostAccess, Refusal, Unreachable } from './codehost.ts'
import type { RequestOptions } from './github.ts'
import { commentUrl } from './github-urls.ts'
import { type HostResponse, isGone, limitsOf, refusalOf, unreachable } from './host-response.ts'

type HostWrite = 'changeIssue' | 'createComment' | 'changeComment' | 'deleteComment'

type Send = (access: HostAccess, options: RequestOptions) => Promise<HostResponse | Refusal | Unreachable>

/** The writes of the adapter: a part of `githubClient`. */
export function githubWrites(send: Send): Pick<CodeHost, HostWrite> {
  return {
    async changeIssue(access, { repositoryId, number, state, reason, signal }) {
      const url = `${access.apiUrl}/repositories/${repositoryId}/issues/${number}`
      const body = state === 'closed' ? { state, state_reason: reason } : { state }
      const response = await send(access, { method: 'PATCH', url, body, follow: false, signal })
      if (response.outcome !== 'answered') return response
      if (response.status !== 200) return refusalOf(response)
      if (asRecord(response.body).number !== number) return unreachable('The response is not the issue.')
      return { outcome: 'changed', item: response.body, limits: limitsOf(response) }
    },

    async createComment(access, { repositoryId, number, body, signal }) {
      const url = `${access.apiUrl}/repositories/${repositoryId}/issues/${number}/comments`
      const response = await send(access, { method: 'POST', url, body: { body }, follow: false, signal })
      if (response.outcome !== 'answered') return response
      if (response.status !== 201) return refusalOf(response)
      return { outcome: 'written', comment: response.body, limits: limitsOf(response) }
    },

    async changeComment(access, { repositoryId, externalId, body, signal }) {
      const url = commentUrl(access, { repositoryId, externalId })
      const response = await send(access, { method: 'PATCH', url, body: { body }, follow: false, signal })
      if (response.outcome !== 'answered') return response
      const limits = limitsOf(response)
      if (isGone(response, access)) return { outcome: 'gone', limits }
      if (response.status !== 200) return refusalOf(response)
      return { outcome: 'written', comment: response.body, limits }
    },

    async deleteComment(access, { repositoryId, externalId, signal }) {
      const url = commentUrl(access, { repositoryId, externalId })
      const response = await send(access, { method: 'DELETE', url, follow: false, signal })
      if (response.outcome !== 'answered') return response
      const limits = limitsOf(response)
      if (response.status === 204) return { outcome: 'erased', limits }
      return isGone(response, access) ? { outcome: 'gone', limits } : refusalOf(response)
    },
  }
}

import { asRecord } from '../lib/as-record.ts'
import { absencesOf } from './absence.ts'
import type { CodeHost } from './codehost.ts'
import type { Send } from './github.ts'
import { commentUrl } from './github-urls.ts'
import { limitsOf, refusalOf, unreachable } from './host-response.ts'

type HostWrite = 'changeIssue' | 'createComment' | 'changeComment' | 'deleteComment'

/** The writes of the adapter: a part of `githubClient`. */
export function githubWrites(send: Send): Pick<CodeHost, HostWrite> {
  const { commentAbsenceOf } = absencesOf(send)
  return {
    async changeIssue(access, { repositoryId, number, state, reason, signal }) {
      const url = `${access.apiUrl}/repositories/${repositoryId}/issues/${number}`
      const body = state === 'closed' ? { state, state_reason: reason } : { state }
      const response = await send(access, { method: 'PATCH', url, body, follow: false, signal })
      if (response.outcome !== 'responded') return response
      if (response.status !== 200) return refusalOf(response)
      if (asRecord(response.body).number !== number) return unreachable('The response is not the issue.')
      return { outcome: 'changed', item: response.body, limits: limitsOf(response) }
    },

    async createComment(access, { repositoryId, number, body, signal }) {
      const url = `${access.apiUrl}/repositories/${repositoryId}/issues/${number}/comments`
      const response = await send(access, { method: 'POST', url, body: { body }, follow: false, signal })
      if (response.outcome !== 'responded') return response
      if (response.status !== 201) return refusalOf(response)
      return { outcome: 'written', comment: response.body, limits: limitsOf(response) }
    },

    async changeComment(access, { repositoryId, externalId, body, signal }) {
      const url = commentUrl(access, { repositoryId, externalId })
      const response = await send(access, { method: 'PATCH', url, body: { body }, follow: false, signal })
      if (response.outcome !== 'responded') return response
      if (response.status !== 200) return commentAbsenceOf(access, { response, url, repositoryId, signal })
      return { outcome: 'written', comment: response.body, limits: limitsOf(response) }
    },

    async deleteComment(access, { repositoryId, externalId, signal }) {
      const url = commentUrl(access, { repositoryId, externalId })
      const response = await send(access, { method: 'DELETE', url, follow: false, signal })
      if (response.outcome !== 'responded') return response
      if (response.status === 204) return { outcome: 'erased', limits: limitsOf(response) }
      return commentAbsenceOf(access, { response, url, repositoryId, signal })
    },
  }
}

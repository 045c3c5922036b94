import { asRecord } from '../lib/as-record.ts'
import type { CodeHost, HostAccess, Refusal, Unreachable } from './codehost.ts'
import type { RequestOptions } from './github.ts'
import { type HostResponse, limitsOf, refusalOf, unreachable } from './host-response.ts'

type Send = (access: HostAccess, options: RequestOptions) => Promise<HostResponse | Refusal | Unreachable>

/** The writes of the adapter: a part of `githubClient`. */
export function githubWrites(send: Send): Pick<CodeHost, 'changeIssue'> {
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
  }
}

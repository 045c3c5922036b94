import { asRecord } from '../lib/as-record.ts'
import type { HostAccess, HostLimits, Missing, Refusal, Unreachable } from './codehost.ts'
import type { Send } from './github.ts'
import { itemPathOf } from './github-urls.ts'
import { type HostResponse, limitsOf, redirected, redirectOf, refusalOf } from './host-response.ts'

interface LookUp {
  /** Not a success. */
  response: HostResponse
  url: string
  repositoryId: number
  signal: AbortSignal | undefined
}

type Transferred = { outcome: 'transferred'; limits: HostLimits }

/** What a response means that does not have the item or comment asked for. */
export function absencesOf(send: Send) {
  return { itemAbsenceOf, commentAbsenceOf }

  async function itemAbsenceOf(
    access: HostAccess,
    { response, url, repositoryId, signal }: LookUp,
  ): Promise<Missing | Transferred | Refusal | Unreachable> {
    const limits = limitsOf(response)
    if (response.status === 404 || response.status === 410) return { outcome: 'missing', limits }
    const target = redirectOf(response, url)
    if (target === undefined) return refusalOf(response)
    const isElsewhere = await isOfAnotherRepository(access, { target, repositoryId, signal })
    return isElsewhere === true ? { outcome: 'transferred', limits } : isElsewhere || redirected(target)
  }

  async function commentAbsenceOf(
    access: HostAccess,
    lookUp: LookUp,
  ): Promise<Missing | Refusal | Unreachable> {
    const absence = await itemAbsenceOf(access, lookUp)
    // With its issue, it is in another repository.
    return absence.outcome === 'transferred' ? { ...absence, outcome: 'missing' } : absence
  }

  /** Whether a redirect leads to another repository of this host: a proxy may redirect anything anywhere. */
  async function isOfAnotherRepository(
    access: HostAccess,
    { target, repositoryId, signal }: Pick<LookUp, 'repositoryId' | 'signal'> & { target: string },
  ): Promise<boolean | Refusal | Unreachable> {
    const path = itemPathOf(target, access)
    if (path === undefined) return false
    const id = /^repositories\/(\d+)$/.exec(path)?.[1]
    if (id !== undefined) return Number(id) !== repositoryId
    const response = await send(access, { url: `${access.apiUrl}/${path}`, follow: true, signal })
    if (response.outcome !== 'responded') return response
    return response.status === 200 ? asRecord(response.body).id !== repositoryId : refusalOf(response)
  }
}

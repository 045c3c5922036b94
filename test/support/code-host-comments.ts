import type { HostDelivery } from './code-host-deliveries.ts'
import {
  type HostItem,
  type HostRepository,
  issueJson,
  repositoryJson,
  time,
  user,
} from './code-host-items.ts'

/** A comment as the fake code host keeps it. Tests change it through `code-host.ts`. */
export interface HostComment {
  /** Unique on the host. */
  id: bigint
  /** The number of the issue or pull request. */
  number: number
  body: unknown
  /** Null: the account was deleted. */
  author: string | null
  createdAt: number
  updatedAt: number
  /** Members that replace those of the response, to make it invalid. */
  odd?: Record<string, unknown>
}

/** Above the largest safe integer, as real ids will be one day: read as numbers, two neighbors are equal. */
export const FIRST_COMMENT_ID = 9_007_199_254_740_993n

/** A comment as the REST API sends it, with every member its description requires. */
export function commentJson(
  { id, number, body, author, createdAt, updatedAt, odd }: HostComment,
  { api, repository: { name, items } }: { api: string; repository: HostRepository },
): object {
  const url = `${api}/repos/${name}/issues`
  const kind = items.get(number)?.mergedAt === undefined ? 'issues' : 'pull'
  return {
    url: `${url}/comments/${id}`,
    html_url: `https://codehost.example/${name}/${kind}/${number}#issuecomment-${id}`,
    issue_url: `${url}/${number}`,
    id: `@${id}@`,
    node_id: `IC_${id}`,
    user: author === null ? null : user(api, author),
    created_at: time(createdAt),
    updated_at: time(updatedAt),
    body,
    author_association: 'NONE',
    performed_via_github_app: null,
    ...odd,
  }
}

/** A change of a comment as its webhook reports it, in the state that the comment has now. */
export function commentDelivery(
  comment: HostComment,
  {
    api,
    repository,
    action,
  }: { api: string; repository: HostRepository; action: 'created' | 'edited' | 'deleted' },
): HostDelivery {
  const item = repository.items.get(comment.number) as HostItem
  const payload = {
    action,
    ...(action === 'edited' && { changes: { body: { from: 'before' } } }),
    issue: issueJson(item, { api, repository }),
    comment: commentJson(comment, { api, repository }),
    repository: repositoryJson(api, repository),
    sender: { login: comment.author ?? 'ghost', id: 1 },
  }
  return { event: 'issue_comment', payload }
}

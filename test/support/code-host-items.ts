import type { HostComment } from './code-host-comments.ts'

/** An issue or pull request as the fake code host keeps it. Tests change it through `code-host.ts`. */
export interface HostItem {
  number: number
  title: string
  body: unknown
  state: 'open' | 'closed'
  stateReason: string | null
  /** Names, or labels with a color. */
  labels: unknown[]
  assignees: string[]
  /** Null: the account was deleted. */
  author: string | null
  /** Null: a pull request that was never merged; undefined: an issue. */
  mergedAt?: string | null
  createdAt: number
  updatedAt: number
  closedAt: number | null
  isDraft: boolean
  /** Only who may write to the repository can comment on it. */
  isLocked?: boolean
  /** Where it went, if it is no longer here. */
  gone?: 'transferred' | 'deleted' | 'unseen'
  /** Members that replace those of the response, to make it invalid. */
  odd?: Record<string, unknown>
}

export interface HostRepository {
  id: number
  name: string
  isPrivate: boolean
  /** Nothing can be written. */
  isArchived?: boolean
  items: Map<number, HostItem>
  comments: Map<bigint, HostComment>
}

/** An item as the REST API sends it, with every member its description requires. */
export function issueJson(
  item: HostItem,
  { api, repository: { id, name, comments } }: { api: string; repository: HostRepository },
): object {
  const url = `${api}/repos/${name}/issues/${item.number}`
  const isPull = item.mergedAt !== undefined
  const html = `https://codehost.example/${name}/${isPull ? 'pull' : 'issues'}/${item.number}`
  return {
    // Above the largest safe integer, as real ids will be one day.
    id: `@${9_007_199_254_740_993n + BigInt(id) * 1_000_000n + BigInt(item.number)}@`,
    node_id: `I_${item.number}`,
    url,
    repository_url: `${api}/repos/${name}`,
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    timeline_url: `${url}/timeline`,
    html_url: html,
    number: item.number,
    title: item.title,
    body: item.body,
    user: item.author === null ? null : user(api, item.author),
    labels: item.labels.map((label, index) =>
      typeof label === 'string' && !item.odd?.plainLabels ? labelJson(label, { api, index }) : label,
    ),
    state: item.state,
    state_reason: isPull ? null : item.stateReason,
    locked: item.isLocked ?? false,
    active_lock_reason: null,
    assignee: item.assignees[0] ? user(api, item.assignees[0]) : null,
    assignees: item.assignees.map((login) => user(api, login)),
    milestone: null,
    comments: [...comments.values()].filter(({ number }) => number === item.number).length,
    author_association: 'OWNER',
    created_at: time(item.createdAt),
    updated_at: time(item.updatedAt),
    closed_at: item.closedAt === null ? null : time(item.closedAt),
    ...(isPull && {
      draft: item.isDraft,
      pull_request: {
        url: `${api}/repos/${name}/pulls/${item.number}`,
        html_url: html,
        diff_url: `${html}.diff`,
        patch_url: `${html}.patch`,
        merged_at: item.mergedAt,
      },
    }),
    ...item.odd,
  }
}

export function repositoryJson(
  api: string,
  { id, name, isPrivate, isArchived = false }: HostRepository,
): object {
  const [owner = '', short = ''] = name.split('/')
  return {
    id,
    node_id: `R_${id}`,
    name: short,
    full_name: name,
    private: isPrivate,
    owner: user(api, owner),
    html_url: `https://codehost.example/${name}`,
    url: `${api}/repos/${name}`,
    has_issues: true,
    archived: isArchived,
  }
}

/** Ids are written as "@…@" first: JSON.stringify has no integers of that size. */
export const written = (json: unknown) => JSON.stringify(json).replace(/"@(\d+)@"/g, '$1')

export const time = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`

const labelJson = (name: string, { api, index }: { api: string; index: number }) => ({
  id: 100 + index,
  node_id: `L_${index}`,
  url: `${api}/labels/${encodeURIComponent(name)}`,
  name,
  description: null,
  color: 'ededed',
  default: false,
})

export function user(api: string, login: string) {
  const url = `${api}/users/${login}`
  return {
    login,
    id: 1,
    node_id: 'U_1',
    avatar_url: `${url}/avatar`,
    gravatar_id: '',
    url,
    html_url: `https://codehost.example/${login}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: 'User',
    site_admin: false,
  }
}

import type { Schema } from '../api/client.ts'
import type { Project } from '../api/queries.ts'

export type User = Schema<'User'>
export type Role = User['role']

export const ROLES: Record<Role, { label: string; description: string }> = {
  owner: { label: 'Owner', description: 'Full access to all projects, including people, keys and settings.' },
  member: { label: 'Member', description: 'Can read and change tasks, lists and AI instructions.' },
  viewer: { label: 'Viewer', description: 'Can read tasks and AI instructions.' },
}

/** The names of projects, sorted; those that cannot be seen are counted. */
export function projectsText(projectIds: string[] | null, projects: Project[]): string {
  if (projectIds === null) return 'All projects'
  const names = projects.filter(({ id }) => projectIds.includes(id)).map(({ name }) => name)
  const others = projectIds.length - names.length
  return [...names.sort((a, b) => a.localeCompare(b)), ...(others > 0 ? [`${others} more`] : [])].join(', ')
}

/** The link of an invite. The service has it only where it knows its public address. */
export function inviteUrl({ url, secret, userId }: Schema<'InviteWithSecret'>, origin: string): string {
  return url ?? `${origin}/${userId === null ? 'invite' : 'new-password'}#${secret}`
}

import type { Path } from '../navigation/link.tsx'

export interface SettingsPage {
  path: Path
  label: string
  /** Who may open it: everyone, people, admins, or admins who are not limited to some projects. */
  access: 'all' | 'person' | 'admin' | 'service'
}

interface SettingsGroup {
  /** Undefined for the first one, which is about the caller. */
  heading?: string
  pages: SettingsPage[]
}

const GROUPS: SettingsGroup[] = [
  {
    pages: [
      { path: '/settings/account', label: 'Account', access: 'person' },
      { path: '/settings/sessions', label: 'Sessions', access: 'all' },
    ],
  },
  {
    heading: 'People',
    pages: [
      { path: '/settings/people', label: 'People', access: 'service' },
      { path: '/settings/sign-in', label: 'Sign-in', access: 'service' },
    ],
  },
  {
    heading: 'Assistants',
    pages: [{ path: '/settings/instructions', label: 'AI instructions', access: 'all' }],
  },
  {
    heading: 'Incoming',
    pages: [
      { path: '/settings/webhook', label: 'Feedback webhook', access: 'service' },
      { path: '/settings/sources', label: 'Sources', access: 'admin' },
      { path: '/settings/code-hosts', label: 'Code hosts', access: 'admin' },
      { path: '/incoming', label: 'Incoming deliveries', access: 'admin' },
    ],
  },
  {
    heading: 'Developer',
    pages: [
      { path: '/settings/keys', label: 'API keys', access: 'admin' },
      { path: '/settings/routing', label: 'Webhook routing', access: 'service' },
    ],
  },
  {
    heading: 'Outgoing',
    pages: [{ path: '/settings/outgoing', label: 'Outgoing webhooks', access: 'admin' }],
  },
  { heading: 'Data', pages: [{ path: '/settings/data', label: 'Import and export', access: 'all' }] },
]

interface Access {
  isPerson: boolean
  isAdmin: boolean
  isServiceWide: boolean
}

/** The pages of the settings that the caller may open, in groups. */
export const settingsGroups = (access: Access): SettingsGroup[] =>
  GROUPS.map((group) => ({ ...group, pages: group.pages.filter((page) => mayOpen(page, access)) })).filter(
    ({ pages }) => pages.length > 0,
  )

export const settingsPages = (access: Access): SettingsPage[] =>
  settingsGroups(access).flatMap(({ pages }) => pages)

export const settingsPage = (path: string) =>
  GROUPS.flatMap(({ pages }) => pages).find((page) => page.path === path)

function mayOpen({ access }: SettingsPage, { isPerson, isAdmin, isServiceWide }: Access): boolean {
  if (access === 'all') return true
  if (access === 'person') return isPerson
  return isAdmin && (isServiceWide || access === 'admin')
}

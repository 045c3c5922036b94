import type { Path } from '../navigation/link.tsx'

export interface SettingsPage {
  path: Path
  label: string
  /** Who may open it: everyone, people, admins, or admins who are not limited to some projects. */
  access: 'all' | 'person' | 'admin' | 'service'
}

const GENERAL_PAGES: SettingsPage[] = [
  { path: '/settings/account', label: 'Account', access: 'person' },
  { path: '/settings/instructions', label: 'AI instructions', access: 'all' },
  { path: '/settings/sessions', label: 'Sessions', access: 'all' },
  { path: '/settings/data', label: 'Data', access: 'all' },
  { path: '/settings/people', label: 'People', access: 'service' },
  { path: '/settings/sign-in', label: 'Sign-in', access: 'service' },
]
const DEVELOPER_PAGES: SettingsPage[] = [
  { path: '/settings/keys', label: 'API keys', access: 'admin' },
  { path: '/settings/sources', label: 'Sources', access: 'admin' },
  { path: '/settings/outgoing', label: 'Outgoing webhooks', access: 'admin' },
  { path: '/settings/webhook', label: 'Feedback webhook', access: 'service' },
  { path: '/settings/routing', label: 'Webhook routing', access: 'service' },
  { path: '/incoming', label: 'Incoming deliveries', access: 'admin' },
]
const PAGES = [...GENERAL_PAGES, ...DEVELOPER_PAGES]

interface Access {
  isPerson: boolean
  isAdmin: boolean
  isServiceWide: boolean
}

/** The pages of the settings that the caller may open. */
export const settingsPages = ({ isPerson, isAdmin, isServiceWide }: Access) =>
  PAGES.filter(({ access }) => {
    if (access === 'all') return true
    if (access === 'person') return isPerson
    return isAdmin && (isServiceWide || access === 'admin')
  })

export const isForDevelopers = (page: SettingsPage) => DEVELOPER_PAGES.includes(page)

export const settingsPage = (path: string) => PAGES.find((page) => page.path === path)

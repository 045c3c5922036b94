import type { Path } from '../navigation/link.tsx'

export interface SettingsPage {
  path: Path
  label: string
  /** Who may open it: everyone, admin keys, or admin keys that are not limited to one project. */
  access: 'all' | 'admin' | 'service'
}

const PAGES: SettingsPage[] = [
  { path: '/settings/instructions', label: 'AI instructions', access: 'all' },
  { path: '/settings/sessions', label: 'Sessions', access: 'all' },
  { path: '/settings/data', label: 'Data', access: 'all' },
  { path: '/settings/keys', label: 'API keys', access: 'admin' },
  { path: '/settings/sources', label: 'Sources', access: 'admin' },
  { path: '/settings/outgoing', label: 'Outgoing webhooks', access: 'admin' },
  { path: '/settings/webhook', label: 'Feedback webhook', access: 'service' },
  { path: '/settings/routing', label: 'Webhook routing', access: 'service' },
  { path: '/settings/feedback-deliveries', label: 'Feedback deliveries', access: 'service' },
  { path: '/settings/deliveries', label: 'Code host deliveries', access: 'admin' },
]

/** The pages of the settings that a key may open. */
export const settingsPages = ({ isAdmin, isServiceWide }: { isAdmin: boolean; isServiceWide: boolean }) =>
  PAGES.filter(({ access }) => access === 'all' || (isAdmin && (isServiceWide || access === 'admin')))

export const settingsPage = (path: string) => PAGES.find((page) => page.path === path)

import type { Page } from '../../tools/playwright.ts'
import type { Filled } from './filled-service.ts'

/** What the dashboard shows after some steps on a page. */
export interface View {
  /** In the texts of failures. */
  name: string
  path: string
  open?: Step
}

type Step = (page: Page) => Promise<unknown>

const isPhone = (page: Page) => (page.viewportSize()?.width ?? 0) < 600

const press =
  (...names: (string | RegExp)[]): Step =>
  async (page) => {
    for (const name of names) await page.getByRole('button', { name }).first().click()
  }
const follow =
  (name: string): Step =>
  (page) =>
    page.getByRole('link', { name, exact: true }).first().click()
const keys =
  (...names: string[]): Step =>
  async (page) => {
    for (const name of names) await page.keyboard.press(name)
  }
const pick =
  (menu: string | RegExp, item: string): Step =>
  async (page) => {
    await press(menu)(page)
    await page.getByRole('menuitem', { name: item, exact: true }).click()
  }
const confirm =
  (name: string): Step =>
  (page) =>
    page.getByRole('dialog').getByRole('button', { name }).click()
const all =
  (...steps: Step[]): Step =>
  async (page) => {
    for (const step of steps) await step(page)
  }
/** On a phone, the sidebar is a drawer. */
const inSidebar =
  (step: Step): Step =>
  async (page) => {
    if (isPhone(page)) await press('Open menu')(page)
    await step(page)
    if (isPhone(page)) await page.locator('[role="menu"], [role="dialog"]').nth(1).waitFor()
  }
/** On a phone, the filters are in a popover. */
const filter =
  (name: string): Step =>
  async (page) => {
    if (isPhone(page)) await press(/^Filters/)(page)
    await page.getByRole('button', { name, exact: true }).first().click()
  }
const select: Step = async (page) => {
  await page.locator('[data-task]').first().waitFor()
  await keys('j', 'x')(page)
  await page.getByRole('toolbar', { name: 'Selected tasks' }).waitFor()
}
const inSelection =
  (name: string): Step =>
  (page) =>
    page.getByRole('toolbar').getByRole('button', { name }).click()

const see =
  (button: string): Step =>
  (page) =>
    page.getByRole('dialog').getByRole('button', { name: button }).waitFor()

const seeText =
  (text: string): Step =>
  (page) =>
    page.getByRole('dialog').getByText(text).waitFor()

/** It moves what is beneath it when it appears. */
const seeDescription: Step = (page) => page.getByText('Count the rows').waitFor()

/** A delivery whose task is done asks first. */
const replayDone = press('Uploads time out above 20 MB', 'Replay')

const rotate = (menu: RegExp): Step =>
  all(pick(menu, 'Rotate secret'), confirm('Rotate secret'), see("I've stored it"))

const openAdvanced: Step = (page) => page.getByText('Advanced').click()

/** The value of the example whose menu has everything. */
const chooseValue: Step = (page) => page.getByRole('tree').getByText('"critical"').click()

const openFigures: Step = (page) => page.getByText('Figures as a table').first().click()

/** Every page, and states of it. */
export const pageViews = (ids: Filled['ids']): View[] => [
  { name: 'what is to be triaged', path: '/triage' },
  { name: 'a group that is to be triaged', path: `/triage/${ids.group}` },
  { name: 'nothing to be triaged', path: '/triage?source=dashboard' },
  { name: 'the overview', path: '/overview', open: openFigures },
  { name: 'the overview of feedback', path: '/overview/feedback', open: openFigures },
  { name: 'all tasks', path: '/tasks' },
  { name: 'the tasks of a project', path: `/tasks?projectId=${ids.mobile}&status=all` },
  { name: 'no match', path: '/tasks?q=nothing-is-called-that' },
  { name: 'an empty project', path: `/tasks?projectId=${ids.empty}` },
  { name: 'a task', path: `/tasks/${ids.task}` },
  { name: 'a claimed task', path: `/tasks/${ids.claimed}` },
  { name: 'a task that is gone', path: `/tasks/${ids.gone}` },
  { name: 'a project', path: `/projects/${ids.mobile}` },
  { name: 'a project whose sync fails', path: `/projects/${ids.website}` },
  { name: 'a connection', path: `/projects/${ids.mobile}`, open: press('Edit connection') },
  { name: 'a project that is gone', path: `/projects/${ids.gone}` },
  { name: 'notifications', path: '/notifications?show=all' },
  { name: 'no notification', path: '/notifications' },
  { name: 'the trash', path: '/trash' },
  { name: 'the account', path: '/settings/account' },
  { name: 'instructions', path: '/settings/instructions' },
  { name: 'sessions', path: '/settings/sessions' },
  { name: 'data', path: '/settings/data' },
  { name: 'people', path: '/settings/people' },
  { name: 'identity providers', path: '/settings/sign-in' },
  { name: 'keys', path: '/settings/keys' },
  { name: 'sources', path: '/settings/sources' },
  { name: 'a source', path: '/settings/sources', open: press('Edit') },
  { name: 'a new source', path: '/settings/sources?source=new&preset=grafana_alerts', open: openAdvanced },
  { name: 'code hosts', path: '/settings/code-hosts' },
  { name: 'outgoing webhooks', path: '/settings/outgoing' },
  {
    name: 'deliveries of a webhook',
    path: '/settings/outgoing',
    open: all(follow('Deliveries'), press('task.created')),
  },
  { name: 'the feedback webhook', path: '/settings/webhook' },
  {
    name: 'routing',
    path: '/settings/routing',
    open: all(press('Try it'), (page) => page.getByText('would be created').waitFor()),
  },
  { name: 'what arrived', path: '/incoming' },
  { name: 'a delivery that was rejected', path: '/incoming?outcome=rejected', open: press('No tasks') },
  { name: 'no delivery', path: '/incoming?senderId=nothing-has-this-id' },
  { name: 'no such page', path: '/nowhere' },
  { name: 'selected tasks', path: '/tasks', open: select },
]

/** The pages of who has no session. */
export const SIGNED_OUT_PATHS = [
  '/sign-in',
  '/sign-in#key',
  '/invite#secret',
  '/new-password#secret',
  '/new-password',
]

type Opened = [path: string, open: Step, only?: 'phone' | 'wide']

/** The dialogs, popovers and menus by the file of the dashboard that opens them. */
export const openedViews = (ids: Filled['ids']): Record<string, Opened[]> => ({
  ...shellViews,
  ...taskViews(ids),
  ...projectViews(ids),
  ...settingsViews(ids),
})

const DATA = '/settings/data'

const shellViews: Record<string, Opened[]> = {
  'shell/menu-drawer.tsx': [[DATA, press('Open menu'), 'phone']],
  'shell/account-menu.tsx': [[DATA, inSidebar(press(/account menu/))]],
  'shell/project-switcher.tsx': [[DATA, inSidebar(press(/switch project/))]],
  'shell/saved-filters.tsx': [[DATA, inSidebar(press('Actions for filter Crashes'))]],
  'shell/rename-filter.tsx': [[DATA, inSidebar(pick('Actions for filter Crashes', 'Rename'))]],
  'shell/help-dialog.tsx': [[DATA, keys('?')]],
  'palette/palette.tsx': [[DATA, keys('Control+k')]],
  'projects/new-project-dialog.tsx': [[DATA, inSidebar(press('New project'))]],
  'tasks/new-task-dialog.tsx': [[DATA, all(keys('c'), see('Create task'))]],
}

const taskViews = ({ task, mobile, crowded }: Filled['ids']): Record<string, Opened[]> => ({
  'tasks/list/filter-menu.tsx': [['/tasks', press('Priority'), 'wide']],
  'tasks/list/filter-bar.tsx': [['/tasks', press(/^Order/)]],
  'tasks/list/filter-popover.tsx': [['/tasks', press(/^Filters/)]],
  'tasks/list/label-filter.tsx': [['/tasks', press('Label'), 'wide']],
  'tasks/list/save-filter.tsx': [['/tasks?q=crash', filter('Save filter')]],
  'tasks/list/selection-bar.tsx': [
    ['/tasks', all(select, inSelection('Add label')), 'wide'],
    ['/tasks', all(select, inSelection('Priority')), 'wide'],
    ['/tasks', all(select, inSelection('More actions for selected tasks')), 'phone'],
  ],
  'tasks/list-menu.tsx': [[`/tasks?projectId=${mobile}`, all(select, inSelection('Move')), 'wide']],
  'tasks/list/project-filter.tsx': [['/triage', press(/^Project$/)]],
  'tasks/triage/accept-all.tsx': [[`/triage?projectId=${crowded}`, press(/^Accept all/)]],
  'tasks/panel/panel-bar.tsx': [[`/tasks/${task}`, press('More actions')]],
  'tasks/panel/follow-item.tsx': [[`/triage/${task}`, press('More actions')]],
  'tasks/panel/comment-item.tsx': [
    [`/tasks/${task}`, all(seeDescription, press('Comment actions'))],
    [`/tasks/${task}`, all(seeDescription, pick('Comment actions', 'Delete'))],
  ],
})

const projectViews = ({ mobile }: Filled['ids']): Record<string, Opened[]> => {
  const path = `/projects/${mobile}`
  return {
    'projects/lists.tsx': [
      [path, press('Actions for Next release')],
      [path, pick('Actions for Next release', 'Rename')],
      [path, pick('Actions for Next release', 'Delete')],
    ],
    'projects/codehost.tsx': [[path, press('Disconnect')]],
    'projects/codehost-webhook.tsx': [[path, press('New secret')]],
    'projects/project-page.tsx': [[path, press('Delete project')]],
  }
}

const settingsViews = ({ deactivated }: Filled['ids']): Record<string, Opened[]> => ({
  'settings/people-page.tsx': [['/settings/people', pick('Actions for Ada Byron', 'Deactivate')]],
  'settings/keys-to-rotate.tsx': [[`/settings/people?rotate-keys=${deactivated}`, seeText('deactivated')]],
  'settings/person-item.tsx': [['/settings/people', press('Actions for Ada Byron')]],
  'settings/access-dialog.tsx': [
    ['/settings/people', pick('Actions for Ada Byron', 'Change role and projects')],
  ],
  'settings/invite-dialog.tsx': [['/settings/people', press('Invite a person')]],
  'settings/invite-link-dialog.tsx': [['/settings/people', pick('Actions for Ada Byron', 'New password')]],
  'settings/session-list.tsx': [['/settings/sessions', press('Sign out everywhere')]],
  'settings/passkey-section.tsx': [['/settings/account', press('Remove Laptop')]],
  'settings/new-passkey-dialog.tsx': [['/settings/account', press('Add passkey')]],
  'settings/provider-dialog.tsx': [
    ['/settings/sign-in', press('Add a provider')],
    ['/settings/sign-in', press('Edit')],
  ],
  'settings/provider-test.tsx': [['/settings/sign-in', press('Test')]],
  'settings/provider-item.tsx': [['/settings/sign-in', pick('Actions for “Keycloak”', 'Delete')]],
  'settings/rule-dialog.tsx': [['/settings/instructions', press('Add instruction')]],
  'settings/rule-item.tsx': [['/settings/instructions', press(/Actions for “Run/)]],
  'settings/rule-history.tsx': [['/settings/instructions', pick(/Actions for “Run/, 'History')]],
  'settings/new-key-dialog.tsx': [
    ['/settings/keys', press('Create key')],
    ['/settings/account', press('Create personal key')],
  ],
  'settings/key-item.tsx': [['/settings/keys', press('Actions for ci')]],
  'settings/row-menu.tsx': [['/settings/outgoing', press(/^Actions for “Team/)]],
  'settings/key-list.tsx': [
    ['/settings/keys', pick('Actions for ci', 'Rotate secret (old one works for 24 hours)')],
    ['/settings/keys', pick('Actions for ci', 'Revoke')],
  ],
  'settings/webhook-page.tsx': [
    ['/settings/webhook', press('Rotate'), 'wide'],
    ['/settings/webhook', press('Revoke')],
  ],
  'settings/routing-dialog.tsx': [['/settings/routing', press('Add rule')]],
  'settings/routing-item.tsx': [
    ['/settings/routing', press(/Actions for app com/)],
    ['/settings/routing', pick(/Actions for app com/, 'Delete')],
  ],
  'settings/item-controls.tsx': [['/settings/sources', press(/^Actions for “Error/)]],
  'settings/value-menu.tsx': [['/settings/sources?source=new&preset=grafana_alerts', chooseValue]],
  'settings/source-rotation.tsx': [['/settings/sources', pick(/^Actions for “Error/, 'Rotate secret')]],
  'settings/sources-page.tsx': [
    ['/settings/sources', pick(/^Actions for “Error/, 'Delete')],
    ['/settings/sources', rotate(/^Actions for “Contact/)],
  ],
  'incoming/use-replay.tsx': [['/incoming?receiver=source&outcome=accepted', replayDone]],
  'settings/outgoing-dialog.tsx': [
    ['/settings/outgoing', press('Add a webhook')],
    ['/settings/outgoing', press('Edit')],
  ],
  'settings/outgoing-webhooks-page.tsx': [
    ['/settings/outgoing', pick(/^Actions for “Team/, 'Rotate secret')],
    ['/settings/outgoing', rotate(/^Actions for “Team/), 'wide'],
    ['/settings/outgoing', pick(/^Actions for “Team/, 'Delete')],
  ],
})

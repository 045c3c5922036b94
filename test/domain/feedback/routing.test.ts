import { describe, expect, test } from 'vitest'
import {
  consideredRules,
  decideRoute,
  type RoutingFields,
  type RoutingProject,
  type RoutingRule,
} from '../../../src/domain/feedback/routing.ts'

const project = (id: string, name: string, more: Partial<RoutingProject> = {}): RoutingProject => ({
  id,
  name,
  isDefault: false,
  isArchived: false,
  groupFeedback: 'suggest',
  triage: 'on',
  listId: null,
  ...more,
})
const uuid = (n: number) => `00000000-0000-7000-8000-00000000000${n}`

const INBOX = project(uuid(1), 'Inbox', { isDefault: true })
const MOBILE = project(uuid(2), 'Mobile')
const WEB = project(uuid(3), 'Web')
const OLD = project(uuid(4), 'Old', { isArchived: true })
const projects = [INBOX, MOBILE, WEB, OLD]

let position = 0
/** A rule named by its purpose; positions follow the order of creation. */
const rule = (name: string, values: Partial<RoutingRule>): RoutingRule => ({
  id: name,
  name,
  projectMatch: null,
  appMatch: null,
  targetProjectId: MOBILE.id,
  position: position++,
  isActive: true,
  ...values,
})

const BOTH = rule('both', { projectMatch: 'shop', appMatch: 'com.shop' })
const APP = rule('app', { appMatch: 'com.shop' })
const PROJECT = rule('project', { projectMatch: 'shop' })

const decide = (fields: RoutingFields, rules: RoutingRule[]) => decideRoute(fields, { rules, projects })

describe('a routing rule', () => {
  test.each<[string, RoutingFields, RoutingRule[], string | null, string]>([
    [
      'on both goes before all',
      { projectId: 'shop', appId: 'com.shop' },
      [PROJECT, APP, BOTH],
      'both',
      'both',
    ],
    [
      'on the app goes before the project',
      { projectId: 'shop', appId: 'com.shop' },
      [PROJECT, APP],
      'app',
      'app',
    ],
    [
      'on the project goes before a name',
      { projectId: 'shop', projectName: 'Web' },
      [PROJECT],
      'project',
      'project',
    ],
    ['on both needs both: only the app', { appId: 'com.shop' }, [BOTH], null, 'default'],
    ['on both needs both: only the project', { projectId: 'shop' }, [BOTH], null, 'default'],
    ['matches project_name', { projectName: 'shop' }, [PROJECT], 'project', 'project'],
    ['matches bundle_id', { bundleId: 'com.shop' }, [APP], 'app', 'app'],
    ['matches app_id beside another bundle_id', { bundleId: 'x', appId: 'com.shop' }, [APP], 'app', 'app'],
    ['matches in any case', { projectName: 'SHOP', bundleId: 'Com.Shop' }, [BOTH], 'both', 'both'],
    [
      'matches in any case beyond ASCII',
      { projectName: 'ÜBER' },
      [rule('ü', { projectMatch: 'über' })],
      'ü',
      'project',
    ],
    [
      'matches whole values only',
      { projectName: 'shop 2', appId: 'com.shop.x' },
      [APP, PROJECT],
      null,
      'default',
    ],
    [
      'that is not active does not match',
      { appId: 'com.shop' },
      [{ ...APP, isActive: false }],
      null,
      'default',
    ],
    ['is the only project of an event without fields', {}, [BOTH, APP, PROJECT], null, 'default'],
  ])('%s', (_, fields, rules, winner, matchedOn) => {
    const decision = decide(fields, rules)
    expect([decision.rule?.name ?? null, decision.matchedOn]).toEqual([winner, matchedOn])
  })

  test('with the lower position wins a tie, in any input order', () => {
    const first = rule('first', { appMatch: 'com.shop', targetProjectId: WEB.id })
    const second = rule('second', { appMatch: 'COM.SHOP' })
    for (const rules of [
      [first, second],
      [second, first],
    ]) {
      expect(decide({ appId: 'com.shop' }, rules)).toMatchObject({ rule: first, project: WEB })
    }
  })

  test('with an archived or deleted project is skipped, and the trace shows it', () => {
    const archived = { ...BOTH, name: 'dead', targetProjectId: OLD.id }
    const gone = { ...APP, name: 'lost', targetProjectId: uuid(9) }

    const decision = decide({ projectId: 'shop', appId: 'com.shop' }, [archived, gone, PROJECT])

    expect(decision).toMatchObject({ rule: PROJECT, matchedOn: 'project' })
    expect(decision.explanation).toBe(
      'Rule "dead" matches the project and the app, but its project "Old" is archived. Rule "lost" matches the app, but its project was deleted. Rule "project" matches the project. Routed to "Mobile".',
    )
  })
})

describe('feedback that matches no rule', () => {
  test.each<[RoutingFields, RoutingProject, string]>([
    [{ projectId: WEB.id }, WEB, 'project_name'],
    [{ projectId: WEB.id.toUpperCase() }, WEB, 'project_name'],
    [{ projectId: 'web' }, WEB, 'project_name'],
    [{ projectName: 'WEB' }, WEB, 'project_name'],
    [{ projectName: 'inbox' }, INBOX, 'project_name'],
    [{ projectId: MOBILE.id, projectName: 'Web' }, MOBILE, 'project_name'],
    [{ projectId: 'unknown', projectName: 'Web' }, WEB, 'project_name'],
    [{ projectName: 'Old' }, INBOX, 'default'],
    [{ projectId: OLD.id, projectName: 'Web' }, WEB, 'project_name'],
    [{ projectName: 'Nobody' }, INBOX, 'default'],
    [{ appId: 'Web' }, INBOX, 'default'],
    [{}, INBOX, 'default'],
  ])('%j goes to the active project it names, otherwise to the default', (fields, project, matchedOn) => {
    expect(decide(fields, [])).toMatchObject({ project, rule: null, matchedOn })
  })

  test('reports that the project it names is archived', () => {
    expect(decide({ projectName: 'old' }, []).explanation).toBe(
      'No rule matches. The project "Old" that the event names is archived. Routed to the default project "Inbox".',
    )
  })

  test('goes to the oldest of several active projects with one name', () => {
    const twins = [
      project(uuid(7), 'Twin'),
      project(uuid(5), 'twin', { isArchived: true }),
      project(uuid(6), 'TWIN'),
    ]
    const decision = decideRoute({ projectName: 'Twin' }, { rules: [], projects: [INBOX, ...twins] })
    expect(decision.project.id).toBe(uuid(6))
  })
})

test('reports for every rule why it matched or not, without any text of the event', () => {
  const rules = [
    rule('behind', { appMatch: 'com.shop', position: 9 }),
    rule('winner', { appMatch: 'com.shop', position: 0 }),
    rule('lower', { projectMatch: 'shop', position: 1 }),
    rule('asleep', { appMatch: 'com.shop', isActive: false, position: 2 }),
    rule('other', { projectMatch: 'shop', appMatch: 'com.other', position: 3 }),
    rule('dead', { appMatch: 'com.shop', targetProjectId: OLD.id, position: 4 }),
    rule('neither', { projectMatch: 'x', appMatch: 'y', position: 5 }),
  ]
  const table = { rules, projects }
  const fields = { projectName: 'ShOp', appId: 'cOm.ShOp' }

  const considered = consideredRules(fields, { table, winner: decideRoute(fields, table) })

  expect(considered.map(({ name, outcome, reason }) => `${name} ${outcome}: ${reason}`)).toEqual([
    'winner won: matches the app',
    'lower lost: matches the project, but a rule that matches the app takes precedence',
    'asleep lost: is inactive',
    'other lost: doesn’t match: bundle_id and app_id aren’t "com.other"',
    'dead lost: matches the app, but its project "Old" is archived',
    'neither lost: doesn’t match: project_id and project_name aren’t "x", and bundle_id and app_id aren’t "y"',
    'behind lost: matches the app, but comes after rule "winner"',
  ])
  expect(JSON.stringify(considered)).not.toMatch(/ShOp/)
})

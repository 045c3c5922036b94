import { readFileSync } from 'node:fs'
import type { SyntaxNode } from '@lezer/common'
import { parser } from '@prometheus-io/lezer-promql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { metricDefinitions } from '../../src/services/metrics/definitions.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { type Family, readMetrics } from '../support/metrics.ts'

const read = (file: string) => readFileSync(new URL(`../../docs/${file}`, import.meta.url), 'utf8')

/** Prometheus adds these to each metric that it reads. */
const OF_PROMETHEUS = ['job', 'instance']

interface Selector {
  metric: string
  matchers: { label: string; value: string }[]
}

interface Expression {
  text: string
  isValid: boolean
  selectors: Selector[]
  groupingLabels: string[]
}

interface Panel {
  id: number
  title: string
  datasource?: { uid: string }
  gridPos: { x: number; y: number; w: number; h: number }
  targets?: { expr: string; legendFormat: string }[]
}

const dashboard = JSON.parse(read('grafana.json'))
const panels: Panel[] = dashboard.panels
const rules: { alert: string; expr: string }[] = parse(read('prometheus-alerts.yml')).groups[0].rules

const queries = [
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ name: title, expr }))),
  ...rules.map(({ alert, expr }) => ({ name: alert, expr })),
]

let app: TestApp
let families: Family[]
let labelNames: Map<string, readonly string[]>
beforeAll(async () => {
  app = await startApp()
  families = readMetrics((await app.get('/metrics')).body)
  const { registry } = metricDefinitions({ isEmbedded: false })
  // Cast: the library's types leave the names of the labels out.
  const metrics = registry.getMetricsAsArray() as unknown as { name: string; labelNames: string[] }[]
  labelNames = new Map(metrics.map(({ name, labelNames }) => [name, labelNames]))
})
afterAll(() => app.close())

describe.each(queries)('$name: $expr', ({ expr }) => {
  const { isValid, selectors, groupingLabels } = expressionOf(expr)

  test('is PromQL of metrics and labels that exist', () => {
    expect(isValid).toBe(true)
    expect(selectors.length).toBeGreaterThan(0)
    for (const { metric, matchers } of selectors) {
      if (metric === 'up') continue
      const family = familyOf(metric)
      const labels = [...OF_PROMETHEUS, ...(labelNames.get(family.name) ?? [])]
      expect(labels).toEqual(expect.arrayContaining(matchers.map(({ label }) => label)))
      for (const label of groupingLabels) expect([...labels, 'le']).toContain(label)
    }
  })

  test('matches only outcomes that are counted', () => {
    const outcomes = selectors.flatMap(({ metric, matchers }) =>
      matchers.filter(({ label }) => label === 'outcome').map(({ value }) => ({ metric, value })),
    )
    for (const { metric, value } of outcomes) {
      const counted = familyOf(metric).samples.map(({ labels }) => labels.outcome)
      // A histogram has them only once there was a job.
      if (counted.length > 0) expect(counted).toEqual(expect.arrayContaining(value.split('|')))
    }
  })
})

describe('grafana.json', () => {
  test('can be imported: each panel reads the Prometheus that is chosen then', () => {
    expect(dashboard).toMatchObject({
      uid: 'inlet',
      __inputs: [{ name: 'DS_PROMETHEUS', type: 'datasource', pluginId: 'prometheus' }],
    })
    for (const { targets, datasource } of panels)
      if (targets) expect(datasource).toEqual({ type: 'prometheus', uid: `\${DS_PROMETHEUS}` })
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  })

  test('no panel covers another', () => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    for (const { gridPos } of panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
  })

  test('names only labels in its legends that its queries keep', () => {
    for (const { title, targets = [] } of panels) {
      for (const { expr, legendFormat } of targets) {
        const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label)
        const { groupingLabels } = expressionOf(expr)
        const kept = groupingLabels.length > 0 ? groupingLabels : OF_PROMETHEUS
        expect(kept, title).toEqual(expect.arrayContaining(named))
      }
    }
  })

  test('shows every metric of Inlet', () => {
    const shown = new Set(
      panels.flatMap(({ targets = [] }) =>
        targets.flatMap(({ expr }) =>
          expressionOf(expr).selectors.map(({ metric }) => familyOf(metric).name),
        ),
      ),
    )
    const own = families.map(({ name }) => name).filter((name) => name.startsWith('inlet_'))
    expect(own.filter((name) => !shown.has(name))).toEqual([])
  })
})

test('the alerts say what happened', () => {
  expect(rules.length).toBeGreaterThan(4)
  for (const rule of rules)
    expect(rule).toMatchObject({
      labels: { severity: expect.stringMatching(/^(critical|warning)$/) },
      annotations: { summary: expect.stringMatching(/\.$/) },
    })
})

/** The family of a metric or of a part of a histogram. */
function familyOf(metric: string): Family {
  const found = families.find(({ name, type }) =>
    type === 'histogram'
      ? [`${name}_bucket`, `${name}_sum`, `${name}_count`].includes(metric)
      : name === metric,
  )
  if (!found) throw new Error(`/metrics has no ${metric}`)
  return found
}

/** Grafana replaces its own variables before Prometheus sees them. */
function expressionOf(given: string): Expression {
  const text = given.replaceAll('$__rate_interval', '5m')
  const expression: Expression = { text, isValid: true, selectors: [], groupingLabels: [] }
  const textOf = ({ from, to }: SyntaxNode) => text.slice(from, to)
  parser.parse(text).iterate({
    enter({ type, node }) {
      if (type.isError) expression.isValid = false
      if (type.name === 'GroupingLabels')
        expression.groupingLabels.push(...node.getChildren('LabelName').map(textOf))
      if (type.name !== 'VectorSelector') return
      const name = node.getChild('Identifier')
      const matchers = node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []
      expression.selectors.push({
        metric: name ? textOf(name) : '',
        matchers: matchers.map((matcher) => {
          const label = matcher.getChild('LabelName')
          const value = matcher.getChild('StringLiteral')
          return { label: label ? textOf(label) : '', value: value ? JSON.parse(textOf(value)) : '' }
        }),
      })
    },
  })
  return expression
}

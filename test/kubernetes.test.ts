/** The manifests in docs/kubernetes: their schemas, and what no schema says. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { loadConfig, VARIABLES } from '../src/config.ts'
import { keyCommandOf } from '../src/start-text.ts'
import { fetchTools } from './tools/fetch.ts'

const FOLDER = fileURLToPath(new URL('../docs/kubernetes/', import.meta.url))

// biome-ignore lint/suspicious/noExplicitAny: the types of the manifests check them.
type Manifest = any

const manifests: Manifest[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.yaml'))
  .flatMap((file) => parseAllDocuments(readFileSync(join(FOLDER, file), 'utf8')))
  .map((document) => {
    if (document.errors.length > 0) throw document.errors[0]
    return document.toJS()
  })
const ofKind = (kind: string): Manifest => manifests.find((manifest) => manifest.kind === kind)

const deployment = ofKind('Deployment')
const { template } = deployment.spec
const [container] = template.spec.containers
const service = ofKind('Service')
const secret = ofKind('Secret')

let errorsOf: (manifests: Manifest[]) => string[][]
beforeAll(async () => {
  fetchTools()
  ;({ manifestErrors: errorsOf } = await import('./tools/kubernetes.ts'))
})

describe('the manifests', () => {
  test('are valid', () => {
    expect(manifests.length).toBeGreaterThan(4)
    expect(errorsOf(manifests).flat()).toEqual([])
  })

  test('are refused with any error', () => {
    const broken: [string, (manifest: Manifest) => void][] = [
      ['a misspelled field', ({ spec }) => (spec.template.spec.containers[0].redinessProbe = {})],
      ['a field in the wrong place', ({ spec }) => (spec.template.spec.resources = {})],
      ['a missing field', ({ spec }) => delete spec.template.spec.containers[0].name],
      ['a wrong type', ({ spec }) => (spec.replicas = '2')],
      ['a value without quotes', ({ spec }) => (spec.template.spec.containers[0].env[1].value = true)],
      ['another version of the API', (manifest) => (manifest.apiVersion = 'extensions/v1beta1')],
    ]
    const changed = broken.map(([, change]) => {
      const copy = structuredClone(deployment)
      change(copy)
      return copy
    })
    const valid = errorsOf(changed).map((errors) => errors.length === 0)
    expect(broken.map(([name]) => name).filter((_, nth) => valid[nth])).toEqual([])
  })

  test('name each other', () => {
    const { labels } = template.metadata
    for (const { matchLabels } of [deployment.spec.selector, ofKind('PodDisruptionBudget').spec.selector])
      expect(labels).toMatchObject(matchLabels)
    expect(labels).toMatchObject(service.spec.selector)
    const [port] = container.ports
    expect(service.spec.ports).toMatchObject([{ name: 'http', targetPort: port.name }])
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
      expect(container[probe].httpGet.port).toBe(port.name)
    const [path] = ofKind('Ingress').spec.rules[0].http.paths
    expect(path.backend.service).toEqual({ name: service.metadata.name, port: { name: 'http' } })
    expect(container.envFrom).toEqual([{ secretRef: { name: secret.metadata.name } }])
    const namespace = ofKind('Namespace').metadata.name
    const others = manifests.filter(({ kind }) => kind !== 'Namespace')
    expect(others.filter(({ metadata }) => metadata.namespace !== namespace)).toEqual([])
  })
})

test('the command that the start shows there is the one of the README, and names the deployment', () => {
  const command = keyCommandOf({ env: { KUBERNETES_SERVICE_HOST: '10.96.0.1' }, argv: [] })
  expect(readFileSync(join(FOLDER, 'README.md'), 'utf8')).toContain(`\n${command}\n`)
  const { name, namespace } = deployment.metadata
  expect(command).toContain(`-n ${namespace} exec deployment/${name} -- `)
})

describe('the pods', () => {
  test('meet the pod security standard "restricted", with a read-only root file system and no token', () => {
    expect(ofKind('Namespace').metadata.labels).toEqual({
      'pod-security.kubernetes.io/enforce': 'restricted',
    })
    expect(template.spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    })
    for (const host of ['hostNetwork', 'hostPID', 'hostIPC']) expect(template.spec).not.toHaveProperty(host)
    expect(template.spec.containers.concat(template.spec.initContainers ?? [])).toHaveLength(1)
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(template.spec.volumes.map((volume: object) => Object.keys(volume).toSorted())).toEqual([
      ['emptyDir', 'name'],
    ])
    expect(container.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath)).toEqual(['/tmp'])
  })

  test('run as the user of the image, and listen on its port', () => {
    const { runAsUser, runAsGroup } = template.spec.securityContext
    const dockerfile = readFileSync(join(FOLDER, '../../Dockerfile'), 'utf8')
    expect(dockerfile).toContain(`\nUSER ${runAsUser}:${runAsGroup}\n`)
    expect(dockerfile).toContain(`\nEXPOSE ${container.ports[0].containerPort}\n`)
  })

  test('have valid variables, except for those that have to be replaced', () => {
    const given = Object.fromEntries(
      container.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
    )
    expect(
      Object.keys({ ...given, ...secret.stringData }).filter((name) => !VARIABLES.includes(name)),
    ).toEqual([])
    expect(loadConfig(given)).toMatchObject({ publicUrl: expect.stringMatching(/^https:/) })
    const refused = Object.keys(secret.stringData).map((name) => `  ${name} must be `)
    for (const line of refused) expect(() => loadConfig({ ...given, ...secret.stringData })).toThrow(line)
  })

  test('have optional values in the secret that are variables, too', () => {
    const text = readFileSync(join(FOLDER, 'secret.yaml'), 'utf8')
    const optional = [...text.matchAll(/^ {2}# ([A-Z_]+): /gm)].map(([, name]) => name)
    expect(optional).toContain('DATABASE_DIRECT_URL')
    expect(optional.filter((name) => !VARIABLES.some((variable) => variable === name))).toEqual([])
  })

  test('have time for migrations, and to finish their requests', () => {
    const { startupProbe, lifecycle } = container
    const migrationSeconds = startupProbe.periodSeconds * startupProbe.failureThreshold
    expect(migrationSeconds).toBeGreaterThanOrEqual(600)
    expect(deployment.spec.progressDeadlineSeconds).toBeGreaterThan(migrationSeconds)
    // The process cuts what is left after 9 s.
    const { seconds } = lifecycle.preStop.sleep
    expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThan(seconds + 9)
  })
})

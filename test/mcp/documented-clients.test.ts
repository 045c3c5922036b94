import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { CLIENTS } from '../support/mcp-clients.ts'

const DOCUMENTED = 'http://127.0.0.1:3000'

const page = readFileSync(new URL('../../docs/assistants.md', import.meta.url), 'utf8')
const blocks = (language: string) =>
  [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, name, text = '']) =>
    name === language ? text : [],
  )

let service: TestApp
beforeAll(async () => {
  service = await startApp()
  await service.post('/api/rules', { content: 'Speak plainly.' })
})
afterAll(() => service.close())

/** The documented address is that of the defaults; the service under test has another port. */
const here = (text: string) => text.replaceAll(DOCUMENTED, service.url)
const withKey = (text = '') => text.replace(/\$\{input:inlet-key\}|\$\{?INLET_KEY\}?/, service.adminKey)

async function namesOfTools(url: string, headers: Record<string, string>) {
  const client = await CLIENTS['v1 client'](url, headers)
  try {
    return (await client.listTools()).tools.map(({ name }) => name)
  } finally {
    await client.close()
  }
}

/** As a shell runs it, with the key where the page expects it. */
async function runHook(command: string): Promise<string> {
  const env = { ...process.env, INLET_KEY: service.adminKey }
  return (await promisify(execFile)('sh', ['-c', here(command)], { env })).stdout
}

describe('the guide for assistants', () => {
  const [code = {}, editor = {}, editorHook = {}, desktop = {}] = blocks('json').map((text) =>
    JSON.parse(text),
  )

  test('connects the command line', async () => {
    const [line = ''] = blocks('sh')
    const words =
      /^claude mcp add --transport http --scope user inlet (\S+) --header "([^:]+): (\S+)"\n$/.exec(line)

    const [, url = '', header = '', key] = words ?? []

    expect(await namesOfTools(here(url), { [header]: withKey(key) })).toContain('get_context')
  })

  test('loads the rules in the command line at session start and after a compaction', async () => {
    const [{ matcher, hooks }] = code.hooks.SessionStart

    expect(matcher.split('|')).toEqual(expect.arrayContaining(['startup', 'compact']))
    expect(hooks[0].type).toBe('command')
    const output = await runHook(hooks[0].command)
    expect(output).toMatch(/^# Instructions[\s\S]*Speak plainly\./)
    expect(output.length).toBeLessThanOrEqual(10_000)
  })

  test('connects the editor', async () => {
    const { type, url, headers } = editor.servers.inlet

    expect(type).toBe('http')
    expect(editor.inputs).toMatchObject([{ type: 'promptString', id: 'inlet-key', password: true }])
    expect(await namesOfTools(here(url), { 'X-API-Key': withKey(headers['X-API-Key']) })).toHaveLength(10)
  })

  test('loads the rules in the editor at session start', async () => {
    const [{ type, command }] = editorHook.hooks.SessionStart
    const [fetching = '', wrapping] = command.split(' | ')

    expect(type).toBe('command')
    expect(await runHook(fetching)).toContain('Speak plainly.')
    expect(wrapping).toMatch(/^jq -Rs '.*hookEventName:"SessionStart",additionalContext:\..*'$/)
  })

  test('connects the desktop app', async () => {
    const { command, args, env } = desktop.mcpServers.inlet
    const url = args.find((word: string) => word.startsWith('http:'))
    const [header = '', key] = args[args.indexOf('--header') + 1].split(':')

    expect([command, args[1]]).toEqual(['npx', 'mcp-remote'])
    expect(env).toHaveProperty('INLET_KEY')
    expect(await namesOfTools(here(url), { [header]: withKey(key) })).toHaveLength(10)
  })
})

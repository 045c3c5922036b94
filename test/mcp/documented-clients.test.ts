import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
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
  const [code = {}, editor = {}, editorHook = {}, desktop = {}, gemini = {}, cursor = {}] = blocks(
    'json',
  ).map((text) => JSON.parse(text))
  const line = (program: string) => blocks('sh').find((text) => text.startsWith(program)) ?? ''

  test('connects the command line', async () => {
    const words =
      /^claude mcp add --transport http --scope user inlet (\S+) --header "([^:]+): (\S+)"\n$/.exec(
        line('claude'),
      )

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

  test('connects Codex, the Gemini CLI, Cursor, and the Inspector', async () => {
    const [, codexUrl = '', variable] =
      /^codex mcp add inlet --url (\S+) --bearer-token-env-var (\S+)\n$/.exec(line('codex')) ?? []
    expect(variable).toBe('INLET_KEY')
    expect(await namesOfTools(here(codexUrl), { Authorization: `Bearer ${service.adminKey}` })).toHaveLength(
      10,
    )
    const geminiWords =
      /^gemini mcp add --transport http --scope user --header "([^:]+): (\S+)" inlet (\S+)\n$/.exec(
        line('gemini'),
      )
    const inspectorWords =
      /--cli (\S+) --transport http --method tools\/list --header "([^:]+): (\S+)"\n$/.exec(
        line('npx -y @modelcontextprotocol/inspector'),
      )
    const { url, headers } = cursor.mcpServers.inlet
    const connections = [
      [geminiWords?.[3], geminiWords?.[1], geminiWords?.[2]],
      [inspectorWords?.[1], inspectorWords?.[2], inspectorWords?.[3]],
      [url, 'X-API-Key', headers['X-API-Key'].replace('env:', '')],
    ]
    for (const [address = '', header = '', key] of connections) {
      expect(await namesOfTools(here(address), { [header]: withKey(key) })).toHaveLength(10)
    }
    expect(gemini.context.fileName).toContain('AGENTS.md')
  })
})

describe('the script for AGENTS.md', () => {
  const [script = '', preCommit = ''] = blocks('sh').filter((text) => text.startsWith('#!'))
  let repository: string
  const env = () => ({ ...process.env, INLET_KEY: service.adminKey, GIT_CONFIG_GLOBAL: '/dev/null' })
  const run = (command: string) => promisify(execFile)('sh', ['-c', command], { cwd: repository, env: env() })
  const file = () => `${repository}/AGENTS.md`
  beforeAll(async () => {
    repository = await mkdtemp(`${tmpdir()}/agents-`)
    await run('git init -q && git config user.name Ada && git config user.email ada@example.com')
    await writeFile(`${repository}/agents-md.sh`, here(script))
    await writeFile(`${repository}/.git/hooks/pre-commit`, preCommit, { mode: 0o755 })
  })
  afterAll(() => rm(repository, { recursive: true }))

  test('writes the file, and only if a rule has changed', async () => {
    await run('sh agents-md.sh')
    expect(await readFile(file(), 'utf8')).toContain('Speak plainly.')
    const { ino } = await stat(file())
    await run('cd / && sh "$OLDPWD/agents-md.sh"')
    expect((await stat(file())).ino).toBe(ino)
    await service.post('/api/rules', { content: 'Types.', paths: ['src/**'] })
    await run('sh agents-md.sh')
    expect(await readFile(file(), 'utf8')).toContain('Only for `src/**`:\n\nTypes.')
    await rm(file())
    await run('sh agents-md.sh')
    expect(await readFile(file(), 'utf8')).toContain('Types.')
  })

  test('leaves the file as it is if Inlet refuses, or cannot be reached', async () => {
    await run('sh agents-md.sh')
    const before = await readFile(file(), 'utf8')
    await run('rm .git/inlet-agents.etag && INLET_KEY=wrong sh agents-md.sh')
    await run(
      `sed 's|${service.url}|http://127.0.0.1:9|' agents-md.sh > other.sh && sh other.sh && rm other.sh`,
    )
    expect(await readFile(file(), 'utf8')).toBe(before)
  })

  test('adds the file to a commit', async () => {
    await run('sh agents-md.sh')
    await service.post('/api/rules', { content: 'Commit often.' })
    await run('echo 1 > a && git add a && git commit -qm A')
    expect((await run('git show HEAD:AGENTS.md')).stdout).toContain('Commit often.')
    await run('echo 2 > a && git add a && git commit -qm B')
    expect((await run('git show --name-only --format= HEAD')).stdout).toBe('a\n')
  })

  test('is run by a line for cron', async () => {
    const [line = ''] = blocks('crontab')
    const [, minutes, command = ''] = /^(\S+ \S+ \S+ \S+ \S+) (.*)\n$/.exec(line) ?? []
    expect(minutes).toBe('*/15 * * * *')
    await rm(file())
    await run(command.replace('inl_...', service.adminKey).replace('$HOME/app', repository))
    expect(await readFile(file(), 'utf8')).toContain('Speak plainly.')
  })
})

import {
  Client as NewClient,
  StreamableHTTPClientTransport as NewTransport,
} from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterEach } from 'vitest'
import type { TestApp } from './app.ts'

const me = { name: 'test', version: '1.0.0' }

/** What tests need of any client. */
export interface McpClient {
  listTools(): Promise<{
    tools: {
      name: string
      description?: string | undefined
      annotations?: object | undefined
      inputSchema: { properties?: Record<string, unknown> | undefined }
      outputSchema?: object | undefined
    }[]
  }>
  callTool(call: { name: string; arguments?: Record<string, unknown> }): Promise<unknown>
  listResources(): Promise<{ resources: { uri: string }[] }>
  readResource(which: { uri: string }): Promise<{ contents: object[] }>
  listPrompts(): Promise<{ prompts: { name: string }[] }>
  getPrompt(which: { name: string }): Promise<{ messages: { content: object }[] }>
  getInstructions(): string | undefined
  close(): Promise<void>
}

/** The official clients, over real HTTP: of the 1.x line, of the 2.x line as it connects by default, and pinned. */
export const CLIENTS = {
  'v1 client': async (url: string, headers: Record<string, string>): Promise<McpClient> => {
    const client = new OldClient(me)
    const transport = new OldTransport(new URL('/mcp', url), { requestInit: { headers } })
    // Its own types disagree under exactOptionalPropertyTypes.
    await client.connect(transport as Parameters<typeof client.connect>[0])
    return client as McpClient
  },
  'v2 client, older revision': (url: string, headers: Record<string, string>) => newClient(url, { headers }),
  'v2 client, 2026-07-28': (url: string, headers: Record<string, string>) =>
    newClient(url, { headers, mode: { pin: '2026-07-28' } }),
}

async function newClient(
  url: string,
  { headers, mode = 'legacy' }: { headers: Record<string, string>; mode?: 'legacy' | { pin: string } },
): Promise<McpClient> {
  const client = new NewClient(me, { versionNegotiation: { mode } })
  await client.connect(new NewTransport(new URL('/mcp', url), { requestInit: { headers } }))
  return client as McpClient
}

interface ConnectOptions {
  /** The admin key unless given. */
  key?: string
  kind?: keyof typeof CLIENTS | undefined
}

/** Connects clients, and closes them after each test. */
export function mcpConnections(service: () => Pick<TestApp, 'url' | 'adminKey'>) {
  const open: McpClient[] = []
  afterEach(async () => {
    for (const client of open.splice(0)) await client.close()
  })
  return async ({ key = service().adminKey, kind = 'v2 client, 2026-07-28' }: ConnectOptions = {}) => {
    const client = await CLIENTS[kind](service().url, { 'x-api-key': key })
    open.push(client)
    return client
  }
}

/** A project, and a key that is bound to it. */
export async function givenProjectWithKey({ given }: Pick<TestApp, 'given'>, scopes?: string[]) {
  const project = await given.project()
  const key = await given.key({ projectId: project.id, ...(scopes && { scopes }) })
  return { ...project, key }
}

interface ToolResult {
  isError?: boolean
  content: { type: string; text: string }[]
  // biome-ignore lint/suspicious/noExplicitAny: each test states what it expects of a response.
  structuredContent?: any
}

/** Calls a tool; returns its text and its data. */
export async function callTool(client: McpClient, name: string, args?: Record<string, unknown>) {
  const result = (await client.callTool({ name, ...(args && { arguments: args }) })) as ToolResult
  return {
    isError: result.isError ?? false,
    text: result.content.map(({ text }) => text).join('\n'),
    data: result.structuredContent,
  }
}

import {
  createMcpHandler,
  fromJsonSchema,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import type { TObject } from '@sinclair/typebox'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { rulesMarkdown } from '../domain/context-markdown.ts'
import { isAllowed, type Operation, requireAllowed } from '../domain/operation.ts'
import { escaped, visible } from '../domain/visible.ts'
import { AppError, type ErrorCode, type FieldError } from '../errors/index.ts'
import { VERSION } from '../lib/version.ts'
import type { Caller } from '../services/access.ts'
import type { Services, UseCases } from '../services/index.ts'
import type { Metrics } from '../services/metrics/index.ts'
import { ruleOperations } from '../services/rules.ts'
import { inputSchema, outputSchema } from './client-schema.ts'
import type { LongResults } from './long-results.ts'
import { INSTRUCTIONS, PROMPTS } from './prompts.ts'
import { TOOLS, type Tool } from './tools/index.ts'

/** The caller of one request, and the context for logging its errors. */
export interface Exchange {
  caller: Caller
  requestId: string
  log: FastifyBaseLogger
  results: LongResults
  /** Does the work of one message when it is its turn: the others of a batch wait. */
  inTurn: <T>(work: () => Promise<T>) => Promise<T>
  /** Throws if nothing can be changed now. */
  requireWritable(): void
  /** Whether a tool that writes was called: then the request gets its response, whatever that costs. */
  hasEffect: boolean
}

/**
 * Maximum of open streams. Tools, resources and prompts never change while the process runs, so streams carry no
 * messages.
 */
const MAX_LISTENERS = 100

export type McpHandler = ReturnType<typeof mcpHandler>

/** Handles MCP messages, each with a server of its own. */
export function mcpHandler(app: FastifyInstance, services: Services) {
  const serverOf = mcpServers(app, { useCases: services, metrics: services.metrics })
  return createMcpHandler(({ authInfo, era }) => serverOf(exchangeOf(authInfo), era), {
    onerror: (err) => app.log.debug({ err }, 'MCP request refused'),
    maxSubscriptions: MAX_LISTENERS,
  })
}

/** Cast: only the route sets this value. */
const exchangeOf = (authInfo: { extra?: Record<string, unknown> } | undefined) =>
  authInfo?.extra?.exchange as Exchange

type ServerOfExchange = (exchange: Exchange, era: 'legacy' | 'modern') => McpServer

/** Compiles the schemas shared by all exchanges once, and creates a server for each exchange. */
export function mcpServers(
  app: Pick<FastifyInstance, 'compileCheck' | 'asAppError'>,
  {
    useCases,
    metrics,
    tools = TOOLS,
  }: { useCases: UseCases; metrics: Pick<Metrics, 'failed'>; tools?: Tool[] | undefined },
): ServerOfExchange {
  const compiled = tools.map((tool) => ({
    ...tool,
    config: { inputSchema: validatedInput(app, tool), outputSchema: unvalidatedOutput(tool.output) },
    definition: definitionOf(tool),
  }))

  return (exchange, era) => {
    const { caller, results, inTurn } = exchange
    const server = new McpServer(
      { name: 'inlet', title: 'Inlet', version: VERSION },
      {
        instructions: INSTRUCTIONS,
        // The lists of a key never change while the process runs, so clients need no notifications.
        capabilities: {
          tools: { listChanged: false },
          resources: { listChanged: false },
          prompts: { listChanged: false },
          // Clients of the legacy protocol may set a log level; no log messages are sent to them.
          ...(era === 'legacy' && { logging: {} }),
        },
      },
    )

    for (const { name, operation, annotations, run, config } of compiled) {
      server.registerTool(name, config, async (args) => {
        try {
          requireAllowed(caller, operation)
          if (!annotations.readOnlyHint) {
            exchange.requireWritable()
            exchange.hasEffect = true
          }
          return await inTurn(async () => results.toolResult(await run(args, { caller, ...useCases })))
        } catch (error) {
          return { isError: true, content: [{ type: 'text', text: words(error, exchange) }] }
        }
      })
    }

    // A tool that the key may not use costs no room in the list. Whoever calls it anyway is told why.
    const listed = compiled.filter(({ operation }) => isAllowed(caller, operation))
    server.server.setRequestHandler('tools/list', () => ({
      tools: listed.map(({ definition }) => definition),
    }))

    server.registerResource(
      'rules',
      'inlet://rules',
      {
        title: 'Active rules',
        description: 'The active rules that apply here, most important first.',
        mimeType: 'text/markdown',
      },
      (uri) =>
        withProtocolErrors(exchange, {
          operation: ruleOperations.list,
          work: async () => {
            const rules = await useCases.rules.list(caller, {})
            const text = results.text(() => rulesMarkdown(rules), rules.memoryBytes)
            return { contents: [{ uri: uri.href, mimeType: 'text/markdown', text }] }
          },
        }),
    )

    for (const { name, title, description, operation, text } of PROMPTS) {
      const work = async () => {
        const content = { type: 'text' as const, text: await text({ caller, results, ...useCases }) }
        return { messages: [{ role: 'user' as const, content }] }
      }
      server.registerPrompt(name, { title, description }, () =>
        withProtocolErrors(exchange, { operation, work }),
      )
    }
    return server
  }

  /** Resources and prompts have no error results as tools do; their errors are protocol errors. */
  async function withProtocolErrors<T>(
    exchange: Exchange,
    { operation, work }: { operation: Operation; work: () => Promise<T> },
  ): Promise<T> {
    try {
      requireAllowed(exchange.caller, operation)
      return await exchange.inTurn(work)
    } catch (error) {
      throw new ProtocolError(ProtocolErrorCode.InternalError, words(error, exchange))
    }
  }

  function words(error: unknown, { requestId, log }: Exchange): string {
    const known = app.asAppError(error)
    metrics.failed(known instanceof AppError ? known.code : 'bad_request')
    if (!(known instanceof AppError) || ['internal_error', 'unavailable'].includes(known.code)) {
      // Logs the mapped error: the driver's own error contains values that users wrote.
      log.error({ err: known }, 'AI tool failed')
    }
    const errors = known instanceof AppError ? (known.extras.errors ?? []).map(errorText) : []
    const { withoutNames = known.message } = known instanceof AppError ? known.extras : {}
    const advice = known instanceof AppError ? ADVICE[known.code] : undefined
    const text = [
      `${known.code}: ${withoutNames}`,
      ...errors,
      ...(advice ? [advice] : []),
      `Request ${requestId}.`,
    ].join('\n')
    return visible(text)
  }
}

/** A tool as clients receive it. */
const definitionOf = (tool: Tool) => ({
  name: tool.name,
  title: tool.title,
  description: tool.description,
  inputSchema: publishedInput(tool),
  annotations: tool.annotations,
  outputSchema: outputSchema(tool.output),
})

const publishedInput = ({ input, annotations }: Tool) =>
  inputSchema(input, { isChange: annotations.destructiveHint })

/** Arguments are validated like REST input. */
function validatedInput(app: Pick<FastifyInstance, 'compileCheck'>, tool: Tool) {
  const schema = tool.input
  const check = app.compileCheck(schema)
  const hint = `Arguments: ${membersOf(schema)}.`
  return fromJsonSchema(publishedInput(tool), {
    getValidator: () => (given) => {
      const value = withLists(given, schema)
      const refusal = check(value, '')
      if (!refusal) return { valid: true, data: value as never, errorMessage: undefined }
      const errors = (refusal.extras.errors ?? []).map(errorText)
      return { valid: false, data: undefined, errorMessage: visible(['', ...errors, hint].join('\n')) }
    },
  })
}

/** Models pass a single text where the schema has a list, or the list as JSON text. */
function withLists(given: unknown, { properties }: TObject): unknown {
  if (typeof given !== 'object' || given === null) return given
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const isList = Object.hasOwn(properties, name) && properties[name]?.type === 'array'
      return [name, isList && typeof value === 'string' ? listIn(value) : value]
    }),
  )
}

function listIn(text: string): unknown[] {
  try {
    const value = JSON.parse(text)
    return Array.isArray(value) ? value : [text]
  } catch {
    return [text]
  }
}

/** The output schema is only published: the types of tool results are checked at compile time. */
const unvalidatedOutput = (schema: TObject) =>
  fromJsonSchema(outputSchema(schema), {
    getValidator: () => (value) => ({ valid: true, data: value as never, errorMessage: undefined }),
  })

/** On one line: whoever calls makes up the names of unknown arguments. */
const errorText = ({ path, message }: FieldError) =>
  `- ${path.replace(/^\//, '') || 'the arguments'} ${message}`.replace(/[\t\n\r]/g, escaped)

function membersOf({ properties = {}, required = [] }: TObject): string {
  const names = Object.keys(properties).map((name) => (required.includes(name) ? `${name} (required)` : name))
  return names.join(', ') || 'none'
}

/** What a model does about an error, where its message does not say it. Error results are the only text a model gets. */
const ADVICE: Partial<Record<ErrorCode, string>> = {
  version_mismatch:
    'Call get_task, decide whether your change still makes sense, and if so, repeat it with that version.',
  claim_lost: 'Change nothing in the task. To go on with it, claim it again; its state may have changed.',
  task_claimed: 'For another task: list_tasks with isReady has those that nobody works on.',
  task_not_ready: 'For another task: list_tasks with isReady has those that can be claimed.',
  task_not_found:
    'It may be deleted, or in a project that this key has no access to. list_tasks finds tasks.',
  list_not_found: 'get_context has the lists that tasks can be created in.',
  rule_not_found: 'get_rules has the IDs of all active rules.',
  description_read_only: 'Write to notes, or add a comment.',
  insufficient_scope: 'Tell the person: only they can change what this key may do.',
  invalid_cursor: 'Pass nextCursor unchanged, with the same sort, or start without a cursor.',
}

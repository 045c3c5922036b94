import type { FastifyInstance, FastifySchema } from 'fastify'
import fp from 'fastify-plugin'
import { checkCompiler } from '../domain/validation/checks.ts'
import { unescapePointer } from '../domain/validation/field-errors.ts'
import type { AppError } from '../errors/index.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Compiles a strict check of a JSON value. It returns the errors, with paths below the base, undefined if valid. */
    compileCheck(schema: object): (value: unknown, basePath: string) => AppError | undefined
  }
}

/** Validates requests. Bodies are never coerced; queries, path parameters and headers are. */
export const validation = fp(
  async function validation(app: FastifyInstance) {
    const strict = checkCompiler({ coerceTypes: false })
    const coercing = checkCompiler({ coerceTypes: 'array' })

    app.setValidatorCompiler<FastifySchema>(({ schema, httpPart }) =>
      (httpPart === 'body' ? strict : coercing)(schema, pathsIn(httpPart)),
    )

    app.decorate('compileCheck', (schema) => {
      const check = strict(schema)
      return (value, basePath) => check(value, (pointer) => basePath + pointer).error
    })
  },
  { name: 'validation' },
)

/** Paths into a body are JSON Pointers; those of the other parts are names such as `query.limit`. */
function pathsIn(httpPart: string | undefined): (pointer: string) => string {
  const part = { querystring: 'query', params: 'path', headers: 'header' }[httpPart ?? 'body']
  return part
    ? (pointer) => [part, ...pointer.split('/').slice(1, 2).map(unescapePointer)].join('.')
    : (pointer) => pointer
}

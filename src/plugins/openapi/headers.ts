import { isDeepStrictEqual } from 'node:util'

type Headers = Record<string, object>
type Operation = { responses?: Record<string, { headers?: Headers }> }

/** Replaces repeated response headers by references to shared ones: they would be a third of the document. */
export function withSharedHeaders<T extends { paths?: object; components?: object }>(document: T): T {
  const shared: Headers = {}
  const share = (name: string, header: object) => {
    shared[name] ??= header
    return isDeepStrictEqual(shared[name], header) ? { $ref: `#/components/headers/${name}` } : header
  }
  const paths = mapped((document.paths ?? {}) as Record<string, Record<string, Operation>>, (_, methods) =>
    mapped(methods, (_, operation) => ({
      ...operation,
      responses: mapped(operation.responses ?? {}, (_, { headers, ...response }) => ({
        ...response,
        ...(headers && { headers: mapped(headers, share) }),
      })),
    })),
  )
  return { ...document, paths, components: { ...document.components, headers: shared } }
}

function mapped<T, U>(members: Record<string, T>, change: (name: string, member: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, change(name, member)]))
}

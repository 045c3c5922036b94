/**
 * An error, its causes, and the members of an AggregateError (a host with two addresses). The innermost is first: it is
 * the most specific.
 */
export function errorChain(error: unknown): ErrorLink[] {
  if (typeof error !== 'object' || error === null) return []
  const { cause, errors } = error as { cause?: unknown; errors?: unknown[] }
  return [...errorChain(cause), ...(errors ?? []).flatMap(errorChain), asLink(error)]
}

/** What errors of Node, of PostgreSQL's driver and of fetch have. */
export interface ErrorLink {
  name?: string
  message?: string
  code?: string
  constraint?: string
  severity?: string
  table?: string
  routine?: string
}

/** Cast: each member is optional, and the systems that set them set texts. */
const asLink = (error: object) => error as ErrorLink

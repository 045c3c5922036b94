/**
 * An error, its causes, and the members of an AggregateError (a host with two addresses). The innermost is first: it is
 * the most specific.
 */
export function errorChain(error: unknown): ErrorLink[] {
  if (typeof error !== 'object' || error === null) return []
  const { cause, errors } = error as { cause?: unknown; errors?: unknown[] }
  return [...errorChain(cause), ...(errors ?? []).flatMap(errorChain), asLink(error)]
}

/** The code of the innermost error that has one, otherwise its name: tells errors apart without their values. */
export function errorType(error: unknown): string {
  const chain = errorChain(error)
  return chain.find(({ code }) => typeof code === 'string')?.code ?? chain[0]?.name ?? 'Error'
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

import type { Source, SourcePreset, Template } from './source-queries.ts'

/** What is being edited. Empty texts stand for what is absent. */
export interface SourceDraft {
  name: string
  projectId: string | null
  /** Null for the default list of the project. */
  listId: string | null
  scheme: Source['verify']['scheme']
  header: string
  prefix: string
  secret: string
  mapping: Source['mapping']
  each: string
  filter: string
  template: Record<keyof Template, string>
  clears: Source['clears']
}

export const EMPTY_DRAFT: SourceDraft = {
  ...{
    name: '',
    projectId: null,
    listId: null,
    scheme: 'bearer',
    header: '',
    prefix: '',
    secret: '',
    mapping: 'template',
    each: '',
    filter: '',
  },
  template: {
    title: '{{ payload.title }}',
    description: '',
    priority: '',
    labels: '',
    externalId: '',
    externalUrl: '',
    status: '',
  },
  clears: [],
}

export function draftOf(given: Source | SourcePreset): SourceDraft {
  const { name, verify, mapping, each, filter, template, clears } = given
  return {
    ...EMPTY_DRAFT,
    name,
    ...('projectId' in given && { projectId: given.projectId, listId: given.listId }),
    scheme: verify.scheme,
    header: verify.header ?? '',
    prefix: verify.prefix ?? '',
    mapping,
    each: each ?? '',
    filter: filter ?? '',
    clears,
    template: template ? textsOf(template) : EMPTY_DRAFT.template,
  }
}

const textsOf = (template: Template): SourceDraft['template'] => ({
  title: template.title,
  description: template.description ?? '',
  priority: template.priority ?? '',
  labels: template.labels ?? '',
  externalId: template.externalId ?? '',
  externalUrl: template.externalUrl ?? '',
  status: template.status ?? '',
})

/** Whether the scheme reads a header that the sender chooses. */
export const needsHeader = ({ scheme }: Pick<SourceDraft, 'scheme'>) =>
  scheme === 'token' || scheme === 'hmac_sha256_hex'

/** How deliveries are verified, as the API takes it. */
export function verifyOf(draft: SourceDraft): Source['verify'] {
  const { scheme, header, prefix } = draft
  if (!needsHeader(draft)) return { scheme, header: null, prefix: null }
  return { scheme, header: header.trim() || null, prefix: prefix || null }
}

/** What decides which tasks a payload makes, as the API takes it. */
export function definitionOf({ mapping, each, filter, template, clears }: SourceDraft) {
  if (mapping === 'feedback') return {}
  const { title, ...others } = template
  const entries = Object.entries(others).map(([name, text]) => [name, text || null])
  return {
    each: each.trim() || null,
    filter: filter.trim() || null,
    clears,
    // Cast: `fromEntries` forgets the names.
    template: { title, ...(Object.fromEntries(entries) as Omit<Template, 'title'>) },
  }
}

/** The JSON of a text; undefined if it is empty or none. */
export function parsedPayload(text: string): { payload: unknown } | undefined {
  if (text.trim() === '') return undefined
  try {
    return { payload: JSON.parse(text) }
  } catch {
    return undefined
  }
}

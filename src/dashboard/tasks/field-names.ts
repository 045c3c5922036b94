import type { components } from '../api/schema.gen.ts'

/** How texts name the fields that can be edited. */
const FIELD_NAMES: Record<keyof components['schemas']['TaskChange'], string> = {
  title: 'title',
  description: 'description',
  status: 'status',
  closedReason: 'reason',
  priority: 'priority',
  listId: 'list',
  labels: 'labels',
  assignees: 'assignees',
  blockedBy: 'blockers',
  externalUrl: 'external URL',
  notes: 'notes',
  metadata: 'metadata',
}

/** Unknown fields, for example of a newer version, have the name of the API. */
export const fieldName = (field: string) => (FIELD_NAMES as Record<string, string>)[field] ?? field

import type { components } from '../api/schema.gen.ts'

/** How texts name fields, where that isn't the name of the API in words. */
const FIELD_NAMES: Partial<Record<keyof components['schemas']['TaskChange'], string>> = {
  closedReason: 'reason',
  listId: 'list',
  blockedBy: 'blockers',
  externalUrl: 'external URL',
  triaged: 'triage',
  snoozedUntil: 'snooze',
}

export const fieldName = (field: string) =>
  (FIELD_NAMES as Record<string, string>)[field] ??
  field.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

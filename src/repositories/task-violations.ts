import { violates } from '../db/database-error.ts'
import { codehostItemTaken, externalIdTaken, listNotFound } from '../errors/index.ts'

/** Converts violations that a concurrent transaction caused into named errors. */
export function namingViolations(listId = '') {
  return (error: unknown): never => {
    if (violates(error, 'tasks_list_in_project')) throw listNotFound(listId)
    if (violates(error, 'tasks_codehost')) throw codehostItemTaken()
    if (violates(error, 'tasks_external')) throw externalIdTaken()
    throw error
  }
}

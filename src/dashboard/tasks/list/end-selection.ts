import type { Selection } from './use-selection.ts'

/** Clears the selection for an edit of it, and selects again what failed. */
export async function endSelection(selection: Selection, edit: Promise<string[]>): Promise<void> {
  selection.clear()
  selection.add(await edit)
}

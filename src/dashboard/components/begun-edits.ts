let begun: Promise<unknown> = Promise.resolve()

/** Tells of an edit whose code is still loading: what is pressed next may be its undo. */
export function beginEdit(loaded: Promise<unknown>) {
  begun = Promise.allSettled([begun, loaded])
}

/** Resolves when all edits that were asked for can be undone. */
export const editsBegun = () => begun

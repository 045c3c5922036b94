/** Why a run failed, as its record and the activity log show it. */
export interface RunError {
  code: string
  message: string
}

/** The connection of the run no longer exists. */
export const DISCONNECTED: RunError = {
  code: 'disconnected',
  message: 'The repository was disconnected from the project, or another one was connected.',
}

export const ARCHIVED: RunError = {
  code: 'project_archived',
  message: 'The project was archived. Unarchive it to sync again.',
}

export const TOO_MANY_ATTEMPTS: RunError = {
  code: 'internal_error',
  message: 'The sync failed repeatedly at the same point. See the service log for the reason.',
}

export const CUT_SHORT: RunError = {
  code: 'codehost_unreachable',
  message: 'The listing ended before its last page. Sync again.',
}

export const LEADS_BACK: RunError = {
  code: 'codehost_unreachable',
  message: 'The pages of the listing lead back to an earlier one, so it never ends. Sync again later.',
}

export const WENT_EMPTY: RunError = {
  code: 'reconciliation_aborted',
  message:
    'The code host returned an empty list, but there are tasks of this repository. Nothing was changed. Check the repository and the token.',
}

export const tooManyVanished = ({ present, vanished }: { present: number; vanished: number }): RunError => ({
  code: 'reconciliation_aborted',
  message: `${vanished} of ${present} items are missing from the listing, more than ten and more than a fifth. None was marked as deleted. Check the repository and the token, then run a full sync again.`,
})

import type { ErrorCode } from '../errors/index.ts'

/** What a model does about an error, where its message does not say it. Error results are the only text a model gets. */
export const ADVICE: Partial<Record<ErrorCode, string>> = {
  version_mismatch:
    'Call get_task, decide whether your change still makes sense, and if so, repeat it with that version.',
  claim_lost: 'Change nothing in the task. To go on with it, claim it again; its state may have changed.',
  task_claimed: 'For another task: list_tasks with isReady has those that nobody works on.',
  task_not_ready: 'For another task: list_tasks with isReady has those that can be claimed.',
  task_not_found:
    'It may be deleted, or in a project that this key has no access to. list_tasks finds tasks.',
  list_not_found: 'get_context has the lists that tasks can be created in.',
  rule_not_found: 'get_rules has the IDs of all active rules.',
  description_read_only: 'Write to notes, or add a comment.',
  insufficient_scope: 'Tell the person: only they can change what this key may do.',
  invalid_cursor: 'Pass nextCursor unchanged, with the same sort, or start without a cursor.',
}

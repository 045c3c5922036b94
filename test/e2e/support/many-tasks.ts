import type { AppInBrowser } from './browser.ts'

/** A statement may take only so long. */
const AT_ONCE = 250

/** Copies of the one task with the title "Task 0", each a second younger: through the API they would take a minute. */
export async function copyTask({ service }: AppInBrowser, total: number): Promise<void> {
  for (let from = 1; from < total; from += AT_ONCE) {
    await service.query(
      `insert into tasks select (jsonb_populate_record(t, jsonb_build_object(
       'id', '01a00000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'),
       'title', 'Task ' || n,
       'created_at', t.created_at + n * interval '1 second'
     ))).* from tasks t, generate_series($1::integer, $2::integer) n where t.title = 'Task 0'`,
      [from, Math.min(from + AT_ONCE, total) - 1],
    )
  }
}

import type { TestApp } from './app.ts'
import { withAdmin } from './postgres.ts'

/**
 * Replaces `clock_timestamp()` of a database by one that tests can put forward, for connections from now on. The instances'
 * own clocks stay as they are.
 */
export async function replaceDatabaseClock(connectionString: string): Promise<void> {
  await withAdmin(connectionString, (admin) =>
    admin.query(`
      create schema test_clock;
      create table test_clock.ahead (by interval not null);
      insert into test_clock.ahead values ('0');
      create function test_clock.clock_timestamp() returns timestamptz language sql volatile
        as 'select pg_catalog.clock_timestamp() + by from test_clock.ahead';
      do $$ begin
        execute format('alter database %I set search_path = test_clock, pg_catalog, public', current_database());
      end $$`),
  )
}

/** Lets time pass for the database. */
export async function passTime({ query }: Pick<TestApp, 'query'>, ms: number): Promise<void> {
  await query("update test_clock.ahead set by = by + $1 * interval '1 millisecond'", [ms])
}

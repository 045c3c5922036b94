import { expect, test } from 'vitest'
import { summaryOf } from '../../src/db/traced-client.ts'

test.each([
  ['select 1', 'SELECT'],
  ['select "id" from "tasks" where "id" = $1', 'SELECT tasks'],
  ['  SELECT a FROM only tasks t JOIN lists l ON true', 'SELECT tasks'],
  ['select id from tasks for update of tasks', 'SELECT tasks'],
  ['select id from tasks for no key update skip locked', 'SELECT tasks'],
  ['insert into "tasks" ("id") values ($1) on conflict ("id") do update set x = 1', 'INSERT tasks'],
  ['with given as (select * from unnest($1)) insert into tasks select * from given', 'INSERT tasks'],
  ['with found as (select 1 from lists) select * from found', 'SELECT lists'],
  ['update "tasks" set "title" = $1', 'UPDATE tasks'],
  ['delete from sessions where id = $1', 'DELETE sessions'],
  ['begin isolation level repeatable read', 'BEGIN'],
  ['commit', 'COMMIT'],
  ['', ''],
])('the summary of %j is %j', (text, summary) => {
  expect(summaryOf(text)).toEqual({ operation: summary.split(' ')[0], summary })
})

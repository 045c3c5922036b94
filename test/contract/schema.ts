import type pg from 'pg'

/** The schema as the database itself tells it, in one order, without anything that differs between servers. */
export async function describeSchema(client: pg.Client): Promise<string> {
  await client.connect()
  try {
    const { rows: tables } = await client.query<{ name: string; parts: string[] }>(`
      select c.relname as name, array(
        select format('  %I %s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
          case when a.attnotnull then ' not null' else '' end,
          coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), ''))
        from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped order by a.attnum
      ) || array(
        select format('  constraint %I %s', k.conname, pg_get_constraintdef(k.oid))
        from pg_constraint k where k.conrelid = c.oid and k.contype <> 'n' order by k.conname
      ) as parts
      from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace order by c.relname`)
    const { rows: others } = await client.query<{ text: string }>(`
      select pg_get_indexdef(i.indexrelid) || ';' as text
      from pg_index i join pg_class c on c.oid = i.indexrelid
      where c.relnamespace = 'public'::regnamespace
        and not exists (select from pg_constraint k where k.conindid = i.indexrelid)
      order by c.relname`)
    const { rows: triggers } = await client.query<{ text: string }>(`
      select text from (
        select p.proname as name, pg_get_functiondef(p.oid) || ';' as text
        from pg_proc p where p.pronamespace = 'public'::regnamespace
          and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
        union all
        select t.tgname, pg_get_triggerdef(t.oid) || ';' from pg_trigger t where not t.tgisinternal
      ) as found order by name, text`)
    return [
      ...tables.map(({ name, parts }) => `create table ${name} (\n${parts.join(',\n')}\n);\n`),
      ...others.map(({ text }) => text),
      ...triggers.map(({ text }) => text),
      '',
    ].join('\n')
  } finally {
    await client.end()
  }
}

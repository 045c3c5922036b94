import { sql } from '../../db/drizzle.ts'
import { codehostLabels } from '../../db/tables/codehost.ts'
import type { Executor } from '../index.ts'

export interface LabelColor {
  label: string
  /** Six hexadecimal digits. */
  color: string
}

/** The colors of labels at the code host. */
export function codehostLabelsRepository(db: Executor) {
  return {
    /** Stores the colors, where they are others. Of labels that differ only in case, one counts. */
    async save(projectId: string, colors: LabelColor[]): Promise<void> {
      if (colors.length === 0) return
      const labels = sql.param(colors.map(({ label }) => label))
      const values = sql.param(colors.map(({ color }) => color))
      await db.execute(sql`
        insert into ${codehostLabels} as stored (project_id, name, label, color)
        select distinct on (lower(label)) ${projectId}::uuid, lower(label), label, color
        from unnest(${labels}::text[], ${values}::text[]) as colors (label, color)
        order by lower(label)
        on conflict (name, project_id) do update set label = excluded.label, color = excluded.color
        where (stored.label, stored.color) <> (excluded.label, excluded.color)`)
    },
  }
}

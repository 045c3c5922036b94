import { boolean, doublePrecision, index, integer, pgTable, primaryKey, sql, text, uuid } from '../drizzle.ts'
import { actorType, timestamptz } from './columns.ts'
import { projects } from './projects.ts'

/** Globs of the files that a rule is about; none if it always applies. */
const paths = () => text('paths').array().notNull().default(sql`'{}'`)

/** The team's instructions for assistants. */
export const rules = pgTable(
  'rules',
  {
    id: uuid('id').primaryKey(),
    content: text('content').notNull(),
    priority: doublePrecision('priority').notNull(),
    isActive: boolean('is_active').notNull(),
    paths: paths(),
    /** Null: for every project. */
    projectId: uuid('project_id').references(() => projects.id),
    version: integer('version').notNull(),
    createdAt: timestamptz('created_at').notNull(),
    updatedAt: timestamptz('updated_at').notNull(),
    updatedByType: actorType('updated_by_type').notNull(),
    updatedById: uuid('updated_by_id'),
    updatedByName: text('updated_by_name').notNull(),
    /** When it was deleted; the cleanup removes the rule with its versions. */
    deletedAt: timestamptz('deleted_at'),
  },
  (table) => [
    index('rules_order')
      .on(table.projectId, table.priority.desc(), table.createdAt, table.id)
      .where(sql`deleted_at is null`),
  ],
)

/** All versions of a rule, the current one included. */
export const ruleVersions = pgTable(
  'rule_versions',
  {
    ruleId: uuid('rule_id')
      .notNull()
      .references(() => rules.id, { onDelete: 'cascade' }),
    version: integer('version').notNull(),
    content: text('content').notNull(),
    priority: doublePrecision('priority').notNull(),
    isActive: boolean('is_active').notNull(),
    paths: paths(),
    createdAt: timestamptz('created_at').notNull(),
    actorType: actorType('actor_type').notNull(),
    actorId: uuid('actor_id'),
    actorName: text('actor_name').notNull(),
  },
  (table) => [primaryKey({ columns: [table.ruleId, table.version] })],
)

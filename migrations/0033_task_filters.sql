DROP INDEX "tasks_external";--> statement-breakpoint
ALTER TABLE "task_texts" ADD COLUMN "names" text;--> statement-breakpoint
-- Where pg_trgm is absent, searches do without.
DO $$
DECLARE ops text;
BEGIN
  SELECT format('%I.gin_trgm_ops', nspname) INTO ops
  FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'pg_trgm';
  IF ops IS NOT NULL THEN
    EXECUTE format('CREATE INDEX "task_texts_names" ON "task_texts" USING gin ("names" %s) WHERE "names" IS NOT NULL', ops);
  END IF;
END $$;--> statement-breakpoint
CREATE INDEX "tasks_assignees" ON "tasks" USING gin (lower_names("assignees")) WITH (gin_pending_list_limit=256) WHERE "tasks"."assignees" <> '{}' and "tasks"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "tasks_codehost_number" ON "tasks" USING btree ("codehost_number") WHERE "tasks"."codehost_number" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "tasks_external" ON "tasks" USING btree ("external_id","project_id","source") WHERE "tasks"."deleted_at" is null and "tasks"."external_id" is not null;--> statement-breakpoint
-- As for labels: the statistics of an index with a condition are not used. They hold nothing until then.
CREATE STATISTICS "tasks_assignee_names" ON lower_names("assignees") FROM "tasks";--> statement-breakpoint
ANALYZE "tasks";--> statement-breakpoint
DROP TRIGGER tasks_text_updated ON "tasks";--> statement-breakpoint
CREATE TRIGGER tasks_text_updated AFTER UPDATE OF title, description, external_id, labels, assignees ON "tasks" FOR EACH ROW
  WHEN (OLD.title IS DISTINCT FROM NEW.title OR OLD.description IS DISTINCT FROM NEW.description
    OR OLD.external_id IS DISTINCT FROM NEW.external_id OR OLD.labels <> NEW.labels OR OLD.assignees <> NEW.assignees)
  EXECUTE FUNCTION tasks_text_updated();--> statement-breakpoint
-- Indexed in the background; until then, searches read these tasks themselves.
INSERT INTO "task_text_changes" ("task_id")
SELECT "id" FROM "tasks" WHERE "external_id" IS NOT NULL OR "labels" <> '{}' OR "assignees" <> '{}';

-- Indexes hold this: for one input it must return the same for ever.
CREATE FUNCTION lower_names(names text[]) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT coalesce(array_agg(lower(name)), '{}') FROM unnest(names) AS name
$$;
--> statement-breakpoint
CREATE TABLE "task_name_changes" (
	"kind" text NOT NULL,
	"project_id" uuid NOT NULL,
	"name" text NOT NULL,
	"task_change" integer NOT NULL,
	"open_change" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "task_names" (
	"kind" text NOT NULL,
	"project_id" uuid NOT NULL,
	"key" text NOT NULL,
	"name" text NOT NULL,
	"task_count" integer NOT NULL,
	"open_count" integer NOT NULL,
	CONSTRAINT "task_names_kind_project_id_key_pk" PRIMARY KEY("kind","project_id","key")
);
--> statement-breakpoint
CREATE INDEX "task_names_used" ON "task_names" USING btree ("kind","open_count");--> statement-breakpoint
CREATE INDEX "task_names_project_used" ON "task_names" USING btree ("kind","project_id","open_count");--> statement-breakpoint
CREATE INDEX "tasks_labels" ON "tasks" USING gin (lower_names("labels")) WITH (gin_pending_list_limit=256) WHERE "tasks"."labels" <> '{}' and "tasks"."deleted_at" is null;
--> statement-breakpoint
-- A partial index has no statistics of its own: without these the planner takes every label for one in 200 tasks.
CREATE STATISTICS "tasks_label_names" ON lower_names("labels") FROM "tasks";
--> statement-breakpoint
-- The counts begin where the triggers take over: no write comes between.
LOCK TABLE "tasks" IN SHARE ROW EXCLUSIVE MODE;
--> statement-breakpoint
INSERT INTO "task_names" ("kind", "project_id", "key", "name", "task_count", "open_count")
SELECT kind, project_id, lower(name), min(name), count(*), count(*) FILTER (WHERE status <> 'done')
FROM tasks, LATERAL (SELECT 'label' AS kind, unnest(labels) AS name UNION ALL SELECT 'assignee', unnest(assignees)) AS names
WHERE deleted_at IS NULL GROUP BY kind, project_id, lower(name);
--> statement-breakpoint
-- How many tasks have each label and assignee. The look at the rows costs less than the statement behind it.
CREATE FUNCTION tasks_names_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM added WHERE labels <> '{}' OR assignees <> '{}') THEN
    INSERT INTO task_name_changes (kind, project_id, name, task_change, open_change)
    SELECT kind, project_id, min(name), count(*), count(*) FILTER (WHERE status <> 'done')
    FROM added, LATERAL (SELECT 'label' AS kind, unnest(labels) AS name UNION ALL SELECT 'assignee', unnest(assignees)) AS names
    WHERE deleted_at IS NULL GROUP BY kind, project_id, lower(name);
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION tasks_names_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM added WHERE labels <> '{}' OR assignees <> '{}')
    OR EXISTS (SELECT FROM removed WHERE labels <> '{}' OR assignees <> '{}') THEN
    INSERT INTO task_name_changes (kind, project_id, name, task_change, open_change)
    SELECT kind, project_id, min(name), sum(sign), coalesce(sum(sign) FILTER (WHERE is_open), 0)
    FROM (
      SELECT 1 AS sign, project_id, status <> 'done' AS is_open, labels, assignees FROM added WHERE deleted_at IS NULL
      UNION ALL
      SELECT -1, project_id, status <> 'done', labels, assignees FROM removed WHERE deleted_at IS NULL
    ) AS changes, LATERAL (SELECT 'label' AS kind, unnest(labels) AS name UNION ALL SELECT 'assignee', unnest(assignees)) AS names
    GROUP BY kind, project_id, lower(name)
    HAVING sum(sign) <> 0 OR coalesce(sum(sign) FILTER (WHERE is_open), 0) <> 0;
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION tasks_names_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO task_name_changes (kind, project_id, name, task_change, open_change)
  SELECT kind, project_id, min(name), -count(*), -count(*) FILTER (WHERE status <> 'done')
  FROM removed, LATERAL (SELECT 'label' AS kind, unnest(labels) AS name UNION ALL SELECT 'assignee', unnest(assignees)) AS names
  WHERE deleted_at IS NULL GROUP BY kind, project_id, lower(name);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER tasks_names_inserted AFTER INSERT ON tasks REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION tasks_names_inserted();
--> statement-breakpoint
CREATE TRIGGER tasks_names_updated AFTER UPDATE ON tasks REFERENCING OLD TABLE AS removed NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION tasks_names_updated();
--> statement-breakpoint
CREATE TRIGGER tasks_names_deleted AFTER DELETE ON tasks REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION tasks_names_deleted();

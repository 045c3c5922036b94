CREATE TABLE "task_count_changes" (
	"sign" smallint NOT NULL,
	"list_id" uuid NOT NULL,
	"project_id" uuid NOT NULL,
	"is_open" boolean NOT NULL,
	"labels" text[] NOT NULL,
	"assignees" text[] NOT NULL
);
--> statement-breakpoint
DROP TRIGGER tasks_count_inserted ON tasks;
--> statement-breakpoint
DROP TRIGGER tasks_count_updated ON tasks;
--> statement-breakpoint
DROP TRIGGER tasks_count_deleted ON tasks;
--> statement-breakpoint
DROP TRIGGER tasks_names_inserted ON tasks;
--> statement-breakpoint
DROP TRIGGER tasks_names_updated ON tasks;
--> statement-breakpoint
DROP TRIGGER tasks_names_deleted ON tasks;
--> statement-breakpoint
DROP TRIGGER tasks_text_inserted ON tasks;
--> statement-breakpoint
DROP TRIGGER tasks_text_deleted ON tasks;
--> statement-breakpoint
DROP FUNCTION tasks_count_inserted, tasks_count_updated, tasks_count_deleted, tasks_names_inserted, tasks_names_updated,
  tasks_names_deleted, tasks_text_inserted, tasks_text_deleted;
--> statement-breakpoint
-- Dropping the triggers locked the tasks: no write comes between these sums and the new triggers.
UPDATE "lists" SET "open_count" = "open_count" + changes.change
FROM (SELECT list_id, sum(change) AS change FROM list_count_changes GROUP BY list_id) AS changes
WHERE "lists"."id" = changes.list_id;
--> statement-breakpoint
INSERT INTO "task_names" ("kind", "project_id", "key", "name", "task_count", "open_count")
SELECT kind, project_id, lower(name), (array_agg(name ORDER BY ctid))[1], sum(task_change), sum(open_change)
FROM task_name_changes GROUP BY kind, project_id, lower(name)
ON CONFLICT ("kind", "project_id", "key") DO UPDATE SET
  "task_count" = "task_names"."task_count" + excluded."task_count",
  "open_count" = "task_names"."open_count" + excluded."open_count";
--> statement-breakpoint
DROP TABLE "list_count_changes";
--> statement-breakpoint
DROP TABLE "task_name_changes";
--> statement-breakpoint
-- With the columns of the tables before them, the last one included: instances of an earlier version read them.
CREATE VIEW "list_count_changes" AS
SELECT list_id, sign::integer AS change FROM task_count_changes WHERE is_open;
--> statement-breakpoint
CREATE VIEW "task_name_changes" AS
SELECT kind, project_id, name, sign::integer AS task_change,
  CASE WHEN is_open THEN sign::integer ELSE 0 END AS open_change, changes.ctid
FROM task_count_changes AS changes,
  LATERAL (SELECT 'label' AS kind, unnest(labels) AS name UNION ALL SELECT 'assignee', unnest(assignees)) AS names;
--> statement-breakpoint
CREATE FUNCTION tasks_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO task_text_changes (task_id) SELECT id FROM added;
  INSERT INTO task_count_changes (sign, list_id, project_id, is_open, labels, assignees)
  SELECT 1, list_id, project_id, status <> 'done', labels, assignees FROM added WHERE deleted_at IS NULL;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION tasks_recounted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO task_count_changes (sign, list_id, project_id, is_open, labels, assignees)
  SELECT sign, list_id, project_id, is_open, labels, assignees FROM (VALUES
    (-1, OLD.list_id, OLD.project_id, OLD.status <> 'done', OLD.labels, OLD.assignees, OLD.deleted_at),
    (1, NEW.list_id, NEW.project_id, NEW.status <> 'done', NEW.labels, NEW.assignees, NEW.deleted_at)
  ) AS task (sign, list_id, project_id, is_open, labels, assignees, deleted_at) WHERE deleted_at IS NULL;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION tasks_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO task_text_changes (task_id) SELECT id FROM removed;
  INSERT INTO task_count_changes (sign, list_id, project_id, is_open, labels, assignees)
  SELECT -1, list_id, project_id, status <> 'done', labels, assignees FROM removed WHERE deleted_at IS NULL;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER tasks_inserted AFTER INSERT ON tasks REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION tasks_inserted();
--> statement-breakpoint
-- Most changes change no count: for these the condition is all that runs.
CREATE TRIGGER tasks_recounted AFTER UPDATE ON tasks FOR EACH ROW
  WHEN ((OLD.deleted_at IS NULL OR NEW.deleted_at IS NULL) AND (
    (OLD.status = 'done') <> (NEW.status = 'done') OR (OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL)
    OR OLD.list_id <> NEW.list_id OR OLD.project_id <> NEW.project_id
    OR OLD.labels <> NEW.labels OR OLD.assignees <> NEW.assignees))
  EXECUTE FUNCTION tasks_recounted();
--> statement-breakpoint
CREATE TRIGGER tasks_deleted AFTER DELETE ON tasks REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION tasks_deleted();

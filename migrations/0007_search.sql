CREATE TABLE "task_text_changes" (
	"task_id" uuid NOT NULL
);
--> statement-breakpoint
CREATE TABLE "task_texts" (
	"task_id" uuid PRIMARY KEY NOT NULL,
	"title" text NOT NULL,
	"beginning" text
);
--> statement-breakpoint
-- Where pg_trgm is absent or this user may not create it, searches do without: the start must not depend on it.
DO $$
DECLARE ops text;
BEGIN
  BEGIN
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
  EXCEPTION WHEN insufficient_privilege OR feature_not_supported OR undefined_file THEN
    NULL;
  END;
  SELECT format('%I.gin_trgm_ops', nspname) INTO ops
  FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'pg_trgm';
  IF ops IS NOT NULL THEN
    EXECUTE format('CREATE INDEX "task_texts_trigrams" ON "task_texts" USING gin ("title" %1$s, "beginning" %1$s)', ops);
  END IF;
END $$;
--> statement-breakpoint
CREATE FUNCTION tasks_text_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO task_text_changes (task_id) SELECT id FROM added;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION tasks_text_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO task_text_changes (task_id) VALUES (NEW.id);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION tasks_text_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM task_texts WHERE task_id IN (SELECT id FROM removed);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER tasks_text_inserted AFTER INSERT ON tasks REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION tasks_text_inserted();
--> statement-breakpoint
CREATE TRIGGER tasks_text_updated AFTER UPDATE OF title, description ON tasks FOR EACH ROW
  WHEN (OLD.title IS DISTINCT FROM NEW.title OR OLD.description IS DISTINCT FROM NEW.description)
  EXECUTE FUNCTION tasks_text_updated();
--> statement-breakpoint
CREATE TRIGGER tasks_text_deleted AFTER DELETE ON tasks REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION tasks_text_deleted();
--> statement-breakpoint
-- What is here already is folded in the background, like everything that comes: two seconds for a million tasks.
INSERT INTO "task_text_changes" ("task_id") SELECT "id" FROM "tasks";

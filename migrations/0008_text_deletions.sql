-- The fold alone writes the texts: a deletion of its own missed what a fold beside it had read, and could wait for it.
CREATE OR REPLACE FUNCTION tasks_text_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO task_text_changes (task_id) SELECT id FROM removed;
  RETURN NULL;
END $$;
--> statement-breakpoint
-- What was missed so far.
INSERT INTO "task_text_changes" ("task_id")
SELECT "task_id" FROM "task_texts" WHERE NOT EXISTS (SELECT FROM "tasks" WHERE "tasks"."id" = "task_texts"."task_id");

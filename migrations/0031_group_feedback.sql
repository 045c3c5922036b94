ALTER TABLE "projects" ADD COLUMN "group_feedback" text DEFAULT 'suggest' NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "note_key" text;--> statement-breakpoint
CREATE INDEX "tasks_notes" ON "tasks" USING btree ("project_id","note_key","id") WHERE "tasks"."note_key" is not null and "tasks"."status" <> 'done' and "tasks"."deleted_at" is null;
DROP INDEX "tasks_deleted";--> statement-breakpoint
CREATE INDEX "tasks_trash" ON "tasks" USING btree ("deleted_at","id") WHERE "tasks"."deleted_at" is not null;--> statement-breakpoint
CREATE INDEX "tasks_project_trash" ON "tasks" USING btree ("project_id","deleted_at","id") WHERE "tasks"."deleted_at" is not null;
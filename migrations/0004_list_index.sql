DROP INDEX "tasks_list_created";--> statement-breakpoint
CREATE INDEX "tasks_list_created" ON "tasks" USING btree ("list_id","id");
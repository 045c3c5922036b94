ALTER TABLE "tasks" ADD COLUMN "merged_into" uuid;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "status_before_merge" text;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "report_count" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "tasks_merged" ON "tasks" USING btree ("merged_into","id") WHERE "tasks"."merged_into" is not null and "tasks"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "tasks_reports" ON "tasks" USING btree ("report_count","id") WHERE "tasks"."report_count" > 0 and "tasks"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "tasks_project_reports" ON "tasks" USING btree ("project_id","report_count","id") WHERE "tasks"."report_count" > 0 and "tasks"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "tasks_list_reports" ON "tasks" USING btree ("list_id","report_count","id") WHERE "tasks"."report_count" > 0 and "tasks"."deleted_at" is null;
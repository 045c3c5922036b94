DROP INDEX "tasks_ready";--> statement-breakpoint
DROP INDEX "tasks_project_ready";--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "triage" text DEFAULT 'on' NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "triaged" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "snoozed_until" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "tasks_to_triage" ON "tasks" USING btree ("id") WHERE not "tasks"."triaged" and "tasks"."status" <> 'done' and "tasks"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "tasks_project_to_triage" ON "tasks" USING btree ("project_id","id") WHERE not "tasks"."triaged" and "tasks"."status" <> 'done' and "tasks"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "tasks_snoozed" ON "tasks" USING btree ("snoozed_until") WHERE "tasks"."snoozed_until" is not null;--> statement-breakpoint
CREATE INDEX "tasks_ready" ON "tasks" USING btree ("priority" DESC NULLS FIRST,"id") WHERE "tasks"."status" = 'open' and "tasks"."deleted_at" is null and "tasks"."snoozed_until" is null;--> statement-breakpoint
CREATE INDEX "tasks_project_ready" ON "tasks" USING btree ("project_id","priority" DESC NULLS FIRST,"id") WHERE "tasks"."status" = 'open' and "tasks"."deleted_at" is null and "tasks"."snoozed_until" is null;
ALTER TABLE "tasks" ADD COLUMN "claim_number" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "claim_expires_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "claimed_by_type" text;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "claimed_by_id" uuid;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "claimed_by_name" text;--> statement-breakpoint
CREATE INDEX "tasks_ready" ON "tasks" USING btree ("priority" DESC NULLS FIRST,"id") WHERE "tasks"."status" = 'open' and "tasks"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "tasks_project_ready" ON "tasks" USING btree ("project_id","priority" DESC NULLS FIRST,"id") WHERE "tasks"."status" = 'open' and "tasks"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "tasks_claims" ON "tasks" USING btree ("claim_expires_at") WHERE "tasks"."claim_expires_at" is not null;
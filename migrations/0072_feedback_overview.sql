CREATE TABLE "feedback_weeks" (
	"project_id" uuid NOT NULL,
	"week" date NOT NULL,
	"version" text NOT NULL,
	"sentiment" text NOT NULL,
	"count" integer NOT NULL,
	CONSTRAINT "feedback_weeks_project_id_week_version_sentiment_pk" PRIMARY KEY("project_id","week","version","sentiment")
);
--> statement-breakpoint
CREATE TABLE "report_weeks" (
	"project_id" uuid NOT NULL,
	"week" date NOT NULL,
	"task_id" uuid NOT NULL,
	"count" integer NOT NULL,
	CONSTRAINT "report_weeks_project_id_week_task_id_pk" PRIMARY KEY("project_id","week","task_id")
);
--> statement-breakpoint
ALTER TABLE "counted_tasks" ADD COLUMN "version" text;--> statement-breakpoint
ALTER TABLE "counted_tasks" ADD COLUMN "sentiment" text;--> statement-breakpoint
ALTER TABLE "counted_tasks" ADD COLUMN "report_of" uuid;--> statement-breakpoint
CREATE INDEX "feedback_weeks_unused" ON "feedback_weeks" USING btree ("project_id") WHERE "feedback_weeks"."count" = 0;--> statement-breakpoint
CREATE INDEX "report_weeks_unused" ON "report_weeks" USING btree ("project_id") WHERE "report_weeks"."count" = 0;--> statement-breakpoint
-- Counts the new columns of all tasks.
UPDATE "overview_progress" SET "is_filled" = false, "filled_to" = '00000000-0000-0000-0000-000000000000';

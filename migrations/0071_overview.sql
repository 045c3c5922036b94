CREATE TABLE "closed_weeks" (
	"project_id" uuid NOT NULL,
	"week" date NOT NULL,
	"closer" text NOT NULL,
	"days" integer NOT NULL,
	"count" integer NOT NULL,
	CONSTRAINT "closed_weeks_project_id_week_closer_days_pk" PRIMARY KEY("project_id","week","closer","days")
);
--> statement-breakpoint
CREATE TABLE "counted_task_changes" (
	"task_id" uuid NOT NULL
);
--> statement-breakpoint
CREATE TABLE "counted_tasks" (
	"task_id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"source" text NOT NULL,
	"opened_at" timestamp (3) with time zone NOT NULL,
	"completed_at" timestamp (3) with time zone,
	"closer" text,
	"days" integer,
	"is_to_triage" boolean NOT NULL
);
--> statement-breakpoint
CREATE TABLE "opened_weeks" (
	"project_id" uuid NOT NULL,
	"week" date NOT NULL,
	"source" text NOT NULL,
	"count" integer NOT NULL,
	CONSTRAINT "opened_weeks_project_id_week_source_pk" PRIMARY KEY("project_id","week","source")
);
--> statement-breakpoint
CREATE TABLE "overview_progress" (
	"is_only" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"position" bigint NOT NULL,
	"filled_to" uuid NOT NULL,
	"is_filled" boolean DEFAULT false NOT NULL,
	CONSTRAINT "overview_progress_is_one_row" CHECK ("overview_progress"."is_only")
);
--> statement-breakpoint
CREATE TABLE "untriaged_counts" (
	"project_id" uuid PRIMARY KEY NOT NULL,
	"count" integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX "closed_weeks_unused" ON "closed_weeks" USING btree ("project_id") WHERE "closed_weeks"."count" = 0;--> statement-breakpoint
CREATE INDEX "counted_tasks_open" ON "counted_tasks" USING btree ("project_id","opened_at") WHERE "counted_tasks"."completed_at" is null;--> statement-breakpoint
CREATE INDEX "counted_tasks_to_triage" ON "counted_tasks" USING btree ("project_id","task_id") WHERE "counted_tasks"."is_to_triage";--> statement-breakpoint
CREATE INDEX "opened_weeks_unused" ON "opened_weeks" USING btree ("project_id") WHERE "opened_weeks"."count" = 0;--> statement-breakpoint
-- A sync takes over times of the host that it logs no activity for. All other changes of what is counted have one.
CREATE FUNCTION tasks_times_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO counted_task_changes (task_id) VALUES (NEW.id);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER tasks_times_changed AFTER UPDATE ON tasks FOR EACH ROW
  WHEN (OLD.opened_at <> NEW.opened_at OR OLD.completed_at <> NEW.completed_at)
  EXECUTE FUNCTION tasks_times_changed();

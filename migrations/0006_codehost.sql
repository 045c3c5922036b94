CREATE TABLE "codehost_connections" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"repository_id" bigint NOT NULL,
	"repository" text NOT NULL,
	"api_url" text NOT NULL,
	"token" text,
	"list_id" uuid,
	"schedule" text NOT NULL,
	"position" jsonb,
	"next_run_at" timestamp (3) with time zone,
	"next_full_at" timestamp (3) with time zone NOT NULL,
	"connected_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "codehost_connections_project_id_unique" UNIQUE("project_id")
);
--> statement-breakpoint
CREATE TABLE "sync_entries" (
	"run_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"outcome" text NOT NULL,
	CONSTRAINT "sync_entries_run_id_number_pk" PRIMARY KEY("run_id","number")
);
--> statement-breakpoint
CREATE TABLE "sync_runs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"connection_id" uuid NOT NULL,
	"status" text NOT NULL,
	"mode" text NOT NULL,
	"fetched" integer DEFAULT 0 NOT NULL,
	"counts" jsonb NOT NULL,
	"skipped" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"gone" integer DEFAULT 0 NOT NULL,
	"error" jsonb,
	"retry_at" timestamp (3) with time zone,
	"rate_limit" jsonb,
	"checkpoint" jsonb,
	"lease" integer DEFAULT 0 NOT NULL,
	"lease_until" timestamp (3) with time zone,
	"attempts" integer DEFAULT 0 NOT NULL,
	"limited" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"started_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "codehost_connections" ADD CONSTRAINT "codehost_connections_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "codehost_connections" ADD CONSTRAINT "codehost_connections_list_id_lists_id_fk" FOREIGN KEY ("list_id") REFERENCES "public"."lists"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sync_entries" ADD CONSTRAINT "sync_entries_run_id_sync_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."sync_runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sync_runs" ADD CONSTRAINT "sync_runs_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "codehost_connections_next_run" ON "codehost_connections" USING btree ("next_run_at") WHERE "codehost_connections"."next_run_at" is not null;--> statement-breakpoint
CREATE INDEX "codehost_connections_list" ON "codehost_connections" USING btree ("list_id") WHERE "codehost_connections"."list_id" is not null;--> statement-breakpoint
CREATE INDEX "sync_runs_project" ON "sync_runs" USING btree ("project_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "sync_runs_one_active" ON "sync_runs" USING btree ("project_id") WHERE "sync_runs"."status" in ('queued', 'running', 'rate_limited');
CREATE TABLE "source_events" (
	"id" uuid PRIMARY KEY NOT NULL,
	"source_id" uuid NOT NULL,
	"dedup_key" text,
	"delivery_id" text,
	"outcome" text NOT NULL,
	"duplicates" integer NOT NULL,
	"received_at" timestamp (3) with time zone NOT NULL,
	"project_id" uuid,
	"list_id" uuid,
	"tasks" jsonb NOT NULL,
	"errors" jsonb,
	"payload" text,
	"payload_cut" boolean NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sources" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"project_id" uuid NOT NULL,
	"list_id" uuid,
	"scheme" text NOT NULL,
	"header" text,
	"prefix" text,
	"secret" text NOT NULL,
	"previous_secret" text,
	"previous_secret_until" timestamp (3) with time zone,
	"each" text,
	"filter" text,
	"template" jsonb NOT NULL,
	"is_active" boolean NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
DROP INDEX "tasks_external";--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "source_id" uuid;--> statement-breakpoint
ALTER TABLE "source_events" ADD CONSTRAINT "source_events_source_id_sources_id_fk" FOREIGN KEY ("source_id") REFERENCES "public"."sources"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sources" ADD CONSTRAINT "sources_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sources" ADD CONSTRAINT "sources_list_id_lists_id_fk" FOREIGN KEY ("list_id") REFERENCES "public"."lists"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "source_events_dedup" ON "source_events" USING btree ("source_id","dedup_key") WHERE "source_events"."dedup_key" is not null;--> statement-breakpoint
CREATE INDEX "source_events_source" ON "source_events" USING btree ("source_id","id");--> statement-breakpoint
CREATE INDEX "source_events_filtered" ON "source_events" USING btree ("id") WHERE "source_events"."outcome" = 'filtered';--> statement-breakpoint
CREATE INDEX "source_events_payload" ON "source_events" USING btree ("id") WHERE "source_events"."payload" is not null;--> statement-breakpoint
CREATE INDEX "sources_project" ON "sources" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "sources_list" ON "sources" USING btree ("list_id") WHERE "sources"."list_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "tasks_external" ON "tasks" USING btree ("external_id","project_id","source","source_id") NULLS NOT DISTINCT WHERE "tasks"."deleted_at" is null and "tasks"."external_id" is not null;
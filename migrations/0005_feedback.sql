CREATE TABLE "feedback_events" (
	"id" uuid PRIMARY KEY NOT NULL,
	"dedup_key" text,
	"uuid" text,
	"outcome" text NOT NULL,
	"duplicates" integer NOT NULL,
	"received_at" timestamp (3) with time zone NOT NULL,
	"task_id" uuid,
	"project_id" uuid,
	"list_id" uuid,
	"routing" jsonb,
	"errors" jsonb,
	"payload" text,
	"payload_cut" boolean NOT NULL
);
--> statement-breakpoint
CREATE TABLE "feedback_unreadable" (
	"day" text PRIMARY KEY NOT NULL,
	"count" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_routing" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text,
	"project_match" text,
	"app_match" text,
	"target_project_id" uuid NOT NULL,
	"position" integer NOT NULL,
	"is_active" boolean NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX "feedback_events_dedup" ON "feedback_events" USING btree ("dedup_key") WHERE "feedback_events"."dedup_key" is not null;--> statement-breakpoint
CREATE INDEX "feedback_events_outcome" ON "feedback_events" USING btree ("outcome","id");--> statement-breakpoint
CREATE INDEX "feedback_events_payload" ON "feedback_events" USING btree ("id") WHERE "feedback_events"."payload" is not null;
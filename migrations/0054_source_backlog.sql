CREATE TABLE "source_backlog" (
	"event_id" uuid PRIMARY KEY NOT NULL,
	"source_id" uuid NOT NULL,
	"position" integer NOT NULL,
	"body" "bytea" NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "source_backlog" ADD CONSTRAINT "source_backlog_event_id_source_events_id_fk" FOREIGN KEY ("event_id") REFERENCES "public"."source_events"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "source_backlog_source" ON "source_backlog" USING btree ("source_id","position");
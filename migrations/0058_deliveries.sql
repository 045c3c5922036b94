-- While no instance runs: those of the version before know other tables.
CREATE TABLE "deliveries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"receiver" text NOT NULL,
	"source_id" uuid,
	"connection_id" uuid,
	"project_id" uuid,
	"list_id" uuid,
	"dedup_key" text,
	"sender_id" text,
	"event" text,
	"action" text,
	"number" integer,
	"comment_id" bigint,
	"outcome" text NOT NULL,
	"reason" text,
	"duplicates" integer NOT NULL,
	"attempts" integer NOT NULL,
	"received_at" timestamp (3) with time zone NOT NULL,
	"next_attempt_at" timestamp (3) with time zone,
	"tasks" jsonb NOT NULL,
	"routing" jsonb,
	"errors" jsonb,
	"payload" text,
	"payload_cut" boolean NOT NULL
);--> statement-breakpoint
-- Renamed, so that an instance of the version before writes nothing that is not copied.
ALTER TABLE "feedback_events" RENAME TO "old_feedback_events";--> statement-breakpoint
ALTER TABLE "source_events" RENAME TO "old_source_events";--> statement-breakpoint
ALTER TABLE "codehost_deliveries" RENAME TO "old_codehost_deliveries";--> statement-breakpoint
-- Null for what is not UTF-8.
CREATE FUNCTION old_payload_text(payload bytea) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN convert_from(payload, 'UTF8');
EXCEPTION WHEN OTHERS THEN
  RETURN NULL;
END $$;--> statement-breakpoint
ALTER TABLE "source_backlog" RENAME COLUMN "event_id" TO "delivery_id";--> statement-breakpoint
ALTER TABLE "source_items" RENAME COLUMN "event_id" TO "delivery_id";--> statement-breakpoint
ALTER TABLE "source_backlog" DROP CONSTRAINT "source_backlog_event_id_source_events_id_fk";

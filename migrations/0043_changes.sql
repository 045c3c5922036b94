CREATE TABLE "change_feed" (
	"is_only" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"epoch" uuid NOT NULL,
	"database_id" text NOT NULL,
	"last_position" bigint NOT NULL,
	"snapshot" "pg_snapshot" NOT NULL,
	"pending_snapshot" "pg_snapshot",
	"pending_sequence" bigint,
	CONSTRAINT "change_feed_is_one_row" CHECK ("change_feed"."is_only")
);
--> statement-breakpoint
CREATE TABLE "changes" (
	"position" bigint PRIMARY KEY NOT NULL,
	"activity_id" uuid NOT NULL
);
--> statement-breakpoint
-- Existing rows have 0 and the order of their ids: a number for each would rewrite the table.
CREATE SEQUENCE "activity_sequence_seq";--> statement-breakpoint
ALTER TABLE "activity" ADD COLUMN "sequence" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "activity" ALTER COLUMN "sequence" SET DEFAULT nextval('activity_sequence_seq');--> statement-breakpoint
ALTER SEQUENCE "activity_sequence_seq" OWNED BY "activity"."sequence";--> statement-breakpoint
DROP INDEX "activity_transaction";--> statement-breakpoint
CREATE INDEX "activity_transaction" ON "activity" USING btree ("transaction");--> statement-breakpoint
-- The table is locked by now: what is visible has a position, and what is written later is not in the snapshot.
INSERT INTO "changes" ("position", "activity_id") SELECT row_number() OVER (ORDER BY "id"), "id" FROM "activity";--> statement-breakpoint
INSERT INTO "change_feed" ("epoch", "database_id", "last_position", "snapshot")
SELECT gen_random_uuid(),
  (SELECT "system_identifier" FROM pg_control_system()) || '/' || (SELECT "oid" FROM pg_database WHERE "datname" = current_database()),
  (SELECT count(*) FROM "changes"), pg_current_snapshot();--> statement-breakpoint
ALTER TABLE "changes" ADD CONSTRAINT "changes_activity" UNIQUE("activity_id");--> statement-breakpoint
ANALYZE "changes";

ALTER TABLE "tasks" ADD COLUMN "author_name" text,
  ADD COLUMN "author_url" text,
  ADD COLUMN "is_draft" boolean,
  ADD COLUMN "host_updated_at" timestamp (3) with time zone,
  ADD COLUMN "opened_at" timestamp (3) with time zone;
--> statement-breakpoint
-- A rewrite of the table, which builds each index once. Feedback was given at the time in its metadata, which anyone may
-- have edited: what is not a time is skipped.
ALTER TABLE "tasks"
  ALTER COLUMN "opened_at" TYPE timestamp (3) with time zone USING CASE WHEN "source" = 'analytics' THEN
    least("created_at", (jsonb_path_query_first("metadata",
      '$.occurredAt.datetime("YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"")', '{}', true) #>> '{}')::timestamp AT TIME ZONE 'UTC')
    ELSE "created_at" END,
  ALTER COLUMN "opened_at" SET DEFAULT now(),
  ALTER COLUMN "opened_at" SET NOT NULL;
--> statement-breakpoint
-- What the code host knows of existing tasks comes with a full run. Five minutes leave time to upgrade all instances.
UPDATE "codehost_connections" SET "next_full_at" = now(), "next_run_at" = least("next_run_at", now() + interval '5 minutes')
WHERE "next_run_at" IS NOT NULL;
--> statement-breakpoint
UPDATE "codehost_connections" SET "next_full_at" = now() WHERE "next_run_at" IS NULL;
--> statement-breakpoint
-- A full run that has begun has read pages without it.
UPDATE "sync_runs" SET "checkpoint" = NULL WHERE "mode" = 'full' AND "status" IN ('queued', 'running', 'rate_limited');

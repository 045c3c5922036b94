ALTER TABLE "codehost_connections" ADD COLUMN "previous_webhook_secrets" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
UPDATE "codehost_connections" SET "previous_webhook_secrets" = jsonb_build_array(jsonb_build_object(
  'secret', "previous_webhook_secret",
  'until', to_char("previous_webhook_secret_until" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
WHERE "previous_webhook_secret" IS NOT NULL AND "previous_webhook_secret_until" IS NOT NULL;

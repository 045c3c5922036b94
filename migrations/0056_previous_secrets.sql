ALTER TABLE "sources" ADD COLUMN "previous_secrets" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "previous_secrets" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
UPDATE "sources" SET "previous_secrets" = jsonb_build_array(jsonb_build_object(
  'secret', "previous_secret",
  'until', to_char("previous_secret_until" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
WHERE "previous_secret" IS NOT NULL AND "previous_secret_until" IS NOT NULL;--> statement-breakpoint
UPDATE "webhooks" SET "previous_secrets" = jsonb_build_array(jsonb_build_object(
  'secret', "previous_secret",
  'until', to_char("previous_secret_until" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
WHERE "previous_secret" IS NOT NULL AND "previous_secret_until" IS NOT NULL;

ALTER TABLE "webhooks" ADD COLUMN "pauses" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "scheduled_attempt_at" timestamp (3) with time zone;
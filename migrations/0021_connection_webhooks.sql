ALTER TABLE "codehost_connections" ADD COLUMN "webhook_secret" text;--> statement-breakpoint
ALTER TABLE "codehost_connections" ADD COLUMN "previous_webhook_secret" text;--> statement-breakpoint
ALTER TABLE "codehost_connections" ADD COLUMN "previous_webhook_secret_until" timestamp (3) with time zone;
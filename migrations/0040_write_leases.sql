ALTER TABLE "codehost_write_limits" ADD COLUMN "lease" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "codehost_write_limits" ADD COLUMN "lease_until" timestamp (3) with time zone;
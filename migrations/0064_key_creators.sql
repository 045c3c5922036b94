ALTER TABLE "api_keys" ADD COLUMN "created_by_type" text;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "created_by_id" uuid;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "created_by_name" text;
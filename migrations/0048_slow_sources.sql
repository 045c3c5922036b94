ALTER TABLE "sources" ADD COLUMN "disabled_reason" text;--> statement-breakpoint
ALTER TABLE "sources" ADD COLUMN "slow_deliveries" integer DEFAULT 0 NOT NULL;
ALTER TABLE "rule_versions" ADD COLUMN "paths" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "rules" ADD COLUMN "paths" text[] DEFAULT '{}' NOT NULL;
ALTER TABLE "sources" ALTER COLUMN "template" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "feedback_events" ADD COLUMN "source_id" uuid;--> statement-breakpoint
ALTER TABLE "sources" ADD COLUMN "mapping" text DEFAULT 'template' NOT NULL;--> statement-breakpoint
ALTER TABLE "sources" ADD COLUMN "clears" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
CREATE INDEX "feedback_events_source" ON "feedback_events" USING btree ("source_id","id") WHERE "feedback_events"."source_id" is not null;--> statement-breakpoint
ALTER TABLE "sources" ADD CONSTRAINT "sources_mapping" CHECK (("sources"."mapping" = 'template') = ("sources"."template" is not null));
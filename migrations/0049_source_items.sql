CREATE TABLE "source_items" (
	"source_id" uuid NOT NULL,
	"key" text NOT NULL,
	"hash" text,
	"event_id" uuid,
	"task_id" uuid,
	"received_at" timestamp (3) with time zone,
	CONSTRAINT "source_items_source_id_key_pk" PRIMARY KEY("source_id","key")
);
--> statement-breakpoint
ALTER TABLE "source_items" ADD CONSTRAINT "source_items_source_id_sources_id_fk" FOREIGN KEY ("source_id") REFERENCES "public"."sources"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "source_items_received" ON "source_items" USING btree ("received_at") WHERE "source_items"."key" like 'item:%';
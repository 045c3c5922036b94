ALTER TABLE "codehost_connections" ADD COLUMN "comments" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "codehost_connections" ADD COLUMN "comments_position" jsonb;--> statement-breakpoint
ALTER TABLE "codehost_deliveries" ADD COLUMN "comment_id" bigint;--> statement-breakpoint
CREATE INDEX "codehost_deliveries_deleted_comment" ON "codehost_deliveries" USING btree ("connection_id","comment_id") WHERE "codehost_deliveries"."event" = 'issue_comment' and "codehost_deliveries"."action" = 'deleted';--> statement-breakpoint
CREATE INDEX "comments_external_id" ON "comments" USING btree ("external_id") WHERE "comments"."external_id" is not null;
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_connection_id_codehost_connections_id_fk" FOREIGN KEY ("connection_id") REFERENCES "public"."codehost_connections"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "deliveries_dedup" ON "deliveries" USING btree ("dedup_key") WHERE "deliveries"."dedup_key" is not null;--> statement-breakpoint
CREATE INDEX "deliveries_outcome" ON "deliveries" USING btree ("receiver","outcome","id");--> statement-breakpoint
CREATE INDEX "deliveries_project" ON "deliveries" USING btree ("project_id","receiver","outcome","id");--> statement-breakpoint
CREATE INDEX "deliveries_source" ON "deliveries" USING btree ("source_id","receiver","outcome","id") WHERE "deliveries"."source_id" is not null;--> statement-breakpoint
CREATE INDEX "deliveries_connection" ON "deliveries" USING btree ("connection_id","id") WHERE "deliveries"."connection_id" is not null;--> statement-breakpoint
CREATE INDEX "deliveries_due" ON "deliveries" USING btree ("next_attempt_at") WHERE "deliveries"."receiver" = 'codehost' and "deliveries"."outcome" = 'pending';--> statement-breakpoint
CREATE INDEX "deliveries_gone" ON "deliveries" USING btree ("connection_id","number") WHERE "deliveries"."action" in ('deleted', 'transferred');--> statement-breakpoint
CREATE INDEX "deliveries_deleted_comment" ON "deliveries" USING btree ("connection_id","comment_id") WHERE "deliveries"."event" = 'issue_comment' and "deliveries"."action" = 'deleted';--> statement-breakpoint
CREATE INDEX "deliveries_ignored" ON "deliveries" USING btree ("id") WHERE "deliveries"."outcome" in ('ignored', 'filtered');--> statement-breakpoint
CREATE INDEX "deliveries_payload" ON "deliveries" USING btree ("id") WHERE "deliveries"."payload" is not null;--> statement-breakpoint
ALTER TABLE "source_backlog" ADD CONSTRAINT "source_backlog_delivery_id_deliveries_id_fk" FOREIGN KEY ("delivery_id") REFERENCES "public"."deliveries"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
-- What templates read is deleted with its source.
CREATE FUNCTION sources_deliveries_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM deliveries WHERE source_id = OLD.id AND receiver = 'source';
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER sources_deliveries_deleted AFTER DELETE ON sources
  FOR EACH ROW EXECUTE FUNCTION sources_deliveries_deleted();--> statement-breakpoint
DROP FUNCTION old_payload_text(bytea);--> statement-breakpoint
DROP TABLE "old_feedback_events";--> statement-breakpoint
DROP TABLE "old_source_events";--> statement-breakpoint
DROP TABLE "old_codehost_deliveries";

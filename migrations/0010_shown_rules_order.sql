DROP INDEX "rules_order";--> statement-breakpoint
CREATE INDEX "rules_order" ON "rules" USING btree ("project_id","priority" DESC NULLS LAST,"created_at","id") WHERE deleted_at is null;
ALTER TABLE "tasks" ADD COLUMN "question" jsonb;--> statement-breakpoint
CREATE INDEX "tasks_questions" ON "tasks" USING btree ("id") WHERE "tasks"."question" is not null;
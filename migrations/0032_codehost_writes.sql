CREATE TABLE "codehost_write_limits" (
	"token_key" text PRIMARY KEY NOT NULL,
	"sent" timestamp (3) with time zone[] NOT NULL,
	"paused_until" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "codehost_writes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"connection_id" uuid NOT NULL,
	"task_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"comment_id" uuid,
	"payload" jsonb NOT NULL,
	"status" text NOT NULL,
	"attempts" integer NOT NULL,
	"next_attempt_at" timestamp (3) with time zone NOT NULL,
	"lease_until" timestamp (3) with time zone,
	"error" jsonb,
	"created_at" timestamp (3) with time zone NOT NULL,
	"finished_at" timestamp (3) with time zone,
	CONSTRAINT "codehost_writes_subject" UNIQUE NULLS NOT DISTINCT("task_id","comment_id")
);
--> statement-breakpoint
ALTER TABLE "codehost_connections" ADD COLUMN "write_back" text DEFAULT 'off' NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "write_back" jsonb;--> statement-breakpoint
ALTER TABLE "codehost_writes" ADD CONSTRAINT "codehost_writes_connection_id_codehost_connections_id_fk" FOREIGN KEY ("connection_id") REFERENCES "public"."codehost_connections"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "codehost_writes" ADD CONSTRAINT "codehost_writes_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "codehost_writes_due" ON "codehost_writes" USING btree ("status","next_attempt_at") WHERE "codehost_writes"."status" <> 'done';--> statement-breakpoint
CREATE INDEX "codehost_writes_connection" ON "codehost_writes" USING btree ("connection_id");
CREATE TABLE "webhook_deliveries" (
	"webhook_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"position" bigint,
	"type" text NOT NULL,
	"activity_id" uuid,
	"task_id" uuid,
	"outcome" text NOT NULL,
	"attempts" integer NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"last_attempt_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone,
	"duration_ms" integer,
	"response_status" integer,
	"response_body" text,
	"error" text,
	CONSTRAINT "webhook_deliveries_webhook_id_id_pk" PRIMARY KEY("webhook_id","id")
);
--> statement-breakpoint
CREATE TABLE "webhooks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"url" text NOT NULL,
	"types" text[] NOT NULL,
	"project_id" uuid,
	"secret" text,
	"previous_secret" text,
	"previous_secret_until" timestamp (3) with time zone,
	"is_active" boolean NOT NULL,
	"disabled_reason" text,
	"position" bigint NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamp (3) with time zone,
	"lease" integer DEFAULT 0 NOT NULL,
	"lease_until" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_webhook_id_webhooks_id_fk" FOREIGN KEY ("webhook_id") REFERENCES "public"."webhooks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_waiting" ON "webhook_deliveries" USING btree ("webhook_id","position") WHERE "webhook_deliveries"."outcome" <> 'delivered' and "webhook_deliveries"."position" is not null;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_finished" ON "webhook_deliveries" USING btree ("finished_at") WHERE "webhook_deliveries"."finished_at" is not null;
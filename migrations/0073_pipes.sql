CREATE TABLE "pipe_hours" (
	"kind" text NOT NULL,
	"id" text NOT NULL,
	"hour" timestamp (3) with time zone NOT NULL,
	"succeeded" integer NOT NULL,
	"failed" integer NOT NULL,
	CONSTRAINT "pipe_hours_kind_id_hour_pk" PRIMARY KEY("kind","id","hour")
);
--> statement-breakpoint
CREATE TABLE "pipe_pauses" (
	"kind" text NOT NULL,
	"id" text NOT NULL,
	"day" text NOT NULL,
	"longest_seconds" integer NOT NULL,
	CONSTRAINT "pipe_pauses_kind_id_day_pk" PRIMARY KEY("kind","id","day")
);
--> statement-breakpoint
CREATE TABLE "pipes" (
	"kind" text NOT NULL,
	"id" text NOT NULL,
	"source_id" uuid GENERATED ALWAYS AS (case when kind = 'source' then id::uuid end) STORED,
	"connection_id" uuid GENERATED ALWAYS AS (case when kind in ('sync', 'push', 'write_back') then id::uuid end) STORED,
	"webhook_id" uuid GENERATED ALWAYS AS (case when kind = 'webhook' then id::uuid end) STORED,
	"provider_id" uuid GENERATED ALWAYS AS (case when kind = 'identity_provider' and id <> 'env' then id::uuid end) STORED,
	"last_attempt_at" timestamp (3) with time zone NOT NULL,
	"last_success_at" timestamp (3) with time zone,
	"last_error_at" timestamp (3) with time zone,
	"error_code" text,
	"error_detail" text,
	"failing_since" timestamp (3) with time zone,
	"is_logged_as_failing" boolean DEFAULT false NOT NULL,
	"failure_logged_at" timestamp (3) with time zone,
	CONSTRAINT "pipes_kind_id_pk" PRIMARY KEY("kind","id")
);
--> statement-breakpoint
ALTER TABLE "pipe_hours" ADD CONSTRAINT "pipe_hours_kind_id_pipes_kind_id_fk" FOREIGN KEY ("kind","id") REFERENCES "public"."pipes"("kind","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pipe_pauses" ADD CONSTRAINT "pipe_pauses_kind_id_pipes_kind_id_fk" FOREIGN KEY ("kind","id") REFERENCES "public"."pipes"("kind","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pipes" ADD CONSTRAINT "pipes_source_id_sources_id_fk" FOREIGN KEY ("source_id") REFERENCES "public"."sources"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pipes" ADD CONSTRAINT "pipes_connection_id_codehost_connections_id_fk" FOREIGN KEY ("connection_id") REFERENCES "public"."codehost_connections"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pipes" ADD CONSTRAINT "pipes_webhook_id_webhooks_id_fk" FOREIGN KEY ("webhook_id") REFERENCES "public"."webhooks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pipes" ADD CONSTRAINT "pipes_provider_id_identity_providers_id_fk" FOREIGN KEY ("provider_id") REFERENCES "public"."identity_providers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "pipe_hours_hour" ON "pipe_hours" USING btree ("hour");--> statement-breakpoint
CREATE INDEX "pipe_pauses_day" ON "pipe_pauses" USING btree ("day");--> statement-breakpoint
CREATE INDEX "pipes_source" ON "pipes" USING btree ("source_id") WHERE "pipes"."source_id" is not null;--> statement-breakpoint
CREATE INDEX "pipes_connection" ON "pipes" USING btree ("connection_id") WHERE "pipes"."connection_id" is not null;--> statement-breakpoint
CREATE INDEX "pipes_webhook" ON "pipes" USING btree ("webhook_id") WHERE "pipes"."webhook_id" is not null;--> statement-breakpoint
CREATE INDEX "pipes_provider" ON "pipes" USING btree ("provider_id") WHERE "pipes"."provider_id" is not null;--> statement-breakpoint
CREATE INDEX "pipes_unlogged" ON "pipes" USING btree ("kind","id") WHERE ("pipes"."failing_since" is not null) <> "pipes"."is_logged_as_failing";
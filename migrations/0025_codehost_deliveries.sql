CREATE TABLE "codehost_deliveries" (
	"connection_id" uuid NOT NULL,
	"delivery_id" text NOT NULL,
	"id" uuid NOT NULL,
	"event" text NOT NULL,
	"action" text,
	"number" integer,
	"status" text NOT NULL,
	"reason" text,
	"attempts" integer NOT NULL,
	"payload" "bytea",
	"payload_bytes" integer NOT NULL,
	"received_at" timestamp (3) with time zone NOT NULL,
	"next_attempt_at" timestamp (3) with time zone,
	"applied_at" timestamp (3) with time zone,
	"task_id" uuid,
	CONSTRAINT "codehost_deliveries_connection_id_delivery_id_pk" PRIMARY KEY("connection_id","delivery_id")
);
--> statement-breakpoint
ALTER TABLE "codehost_deliveries" ADD CONSTRAINT "codehost_deliveries_connection_id_codehost_connections_id_fk" FOREIGN KEY ("connection_id") REFERENCES "public"."codehost_connections"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "codehost_deliveries_id" ON "codehost_deliveries" USING btree ("connection_id","id");--> statement-breakpoint
CREATE INDEX "codehost_deliveries_due" ON "codehost_deliveries" USING btree ("next_attempt_at") WHERE "codehost_deliveries"."status" = 'received';--> statement-breakpoint
CREATE INDEX "codehost_deliveries_gone" ON "codehost_deliveries" USING btree ("connection_id","number") WHERE "codehost_deliveries"."action" in ('deleted', 'transferred');--> statement-breakpoint
CREATE INDEX "codehost_deliveries_dropped" ON "codehost_deliveries" USING btree ("id") WHERE "codehost_deliveries"."status" = 'dropped';--> statement-breakpoint
CREATE INDEX "codehost_deliveries_payload" ON "codehost_deliveries" USING btree ("id") WHERE "codehost_deliveries"."payload" is not null;
CREATE TABLE "idempotency_parts" (
	"caller_id" uuid NOT NULL,
	"route" text NOT NULL,
	"key" text NOT NULL,
	"number" integer NOT NULL,
	"text" text NOT NULL,
	CONSTRAINT "idempotency_parts_caller_id_route_key_number_pk" PRIMARY KEY("caller_id","route","key","number")
);
--> statement-breakpoint
ALTER TABLE "idempotency_parts" ADD CONSTRAINT "idempotency_parts_of_key" FOREIGN KEY ("caller_id","route","key") REFERENCES "public"."idempotency_keys"("caller_id","route","key") ON DELETE cascade ON UPDATE no action;
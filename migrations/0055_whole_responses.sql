-- Long responses were stored in parts; they are kept for a day.
UPDATE "idempotency_keys" AS k SET "body" = (
	SELECT string_agg("text", '' ORDER BY "number") FROM "idempotency_parts" AS p
	WHERE p."caller_id" = k."caller_id" AND p."route" = k."route" AND p."key" = k."key"
) WHERE "body" IS NULL AND "status" IS NOT NULL AND EXISTS (
	SELECT FROM "idempotency_parts" AS p
	WHERE p."caller_id" = k."caller_id" AND p."route" = k."route" AND p."key" = k."key"
);
--> statement-breakpoint
DROP TABLE "idempotency_parts" CASCADE;

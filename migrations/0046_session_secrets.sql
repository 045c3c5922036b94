-- A session ends with the secret that opened it. Which one that was is known for keys that have only had one; the
-- sessions of other keys end here, and their users sign in again.
ALTER TABLE "sessions" ADD COLUMN "secret_hash" text;--> statement-breakpoint
UPDATE "sessions" SET "secret_hash" = "only"."hash"
FROM (SELECT "key_id", min("hash") AS "hash" FROM "api_key_secrets" GROUP BY "key_id" HAVING count(*) = 1) AS "only"
WHERE "only"."key_id" = "sessions"."key_id";--> statement-breakpoint
DELETE FROM "sessions" WHERE "secret_hash" IS NULL;--> statement-breakpoint
ALTER TABLE "sessions" ALTER COLUMN "secret_hash" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_secret_hash_api_key_secrets_hash_fk" FOREIGN KEY ("secret_hash") REFERENCES "public"."api_key_secrets"("hash") ON DELETE no action ON UPDATE no action;

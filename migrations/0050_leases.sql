CREATE TABLE "leases" (
	"name" text PRIMARY KEY NOT NULL,
	"number" bigint NOT NULL,
	"lease_until" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
-- Earlier versions scheduled the cleanup with pg-boss. Its schema goes, unless others have queues in it.
DO $$
DECLARE
	has_others boolean := false;
BEGIN
	IF to_regclass('pgboss.queue') IS NOT NULL THEN
		EXECUTE $q$SELECT EXISTS (SELECT FROM pgboss.queue WHERE name <> 'sweep' AND NOT starts_with(name, '__pgboss__'))$q$ INTO has_others;
		IF NOT has_others THEN
			DROP SCHEMA pgboss CASCADE;
		END IF;
	END IF;
END $$;

ALTER TABLE "codehost_connections" DROP COLUMN "previous_webhook_secret";--> statement-breakpoint
ALTER TABLE "codehost_connections" DROP COLUMN "previous_webhook_secret_until";
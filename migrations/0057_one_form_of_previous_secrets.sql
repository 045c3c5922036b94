ALTER TABLE "sources" DROP COLUMN "previous_secret";--> statement-breakpoint
ALTER TABLE "sources" DROP COLUMN "previous_secret_until";--> statement-breakpoint
ALTER TABLE "webhooks" DROP COLUMN "previous_secret";--> statement-breakpoint
ALTER TABLE "webhooks" DROP COLUMN "previous_secret_until";
CREATE TABLE "list_deletions" (
	"list_id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"target_id" uuid NOT NULL,
	"move_to" uuid,
	"actor_type" text NOT NULL,
	"actor_id" uuid,
	"actor_name" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "lists" ADD COLUMN "is_closing" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "list_deletions" ADD CONSTRAINT "list_deletions_list_id_lists_id_fk" FOREIGN KEY ("list_id") REFERENCES "public"."lists"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "list_deletions" ADD CONSTRAINT "list_deletions_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "list_deletions_target" ON "list_deletions" USING btree ("target_id");
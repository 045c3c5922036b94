CREATE TABLE "purged_entries" (
	"project_id" uuid NOT NULL,
	"codehost_repository_id" bigint NOT NULL,
	"codehost_number" integer NOT NULL,
	CONSTRAINT "purged_entries_project_id_codehost_repository_id_codehost_number_pk" PRIMARY KEY("project_id","codehost_repository_id","codehost_number")
);
--> statement-breakpoint
ALTER TABLE "purged_entries" ADD CONSTRAINT "purged_entries_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;
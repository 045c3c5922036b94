CREATE TABLE "codehost_labels" (
	"project_id" uuid NOT NULL,
	"name" text NOT NULL,
	"label" text NOT NULL,
	"color" text NOT NULL,
	CONSTRAINT "codehost_labels_name_project_id_pk" PRIMARY KEY("name","project_id")
);
--> statement-breakpoint
ALTER TABLE "codehost_labels" ADD CONSTRAINT "codehost_labels_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;
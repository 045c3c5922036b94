-- While no instance runs: those of the version before know these tables by other names.
ALTER TABLE "sync_entries" RENAME TO "sync_items";--> statement-breakpoint
ALTER TABLE "sync_items" RENAME CONSTRAINT "sync_entries_run_id_number_pk" TO "sync_items_run_id_number_pk";--> statement-breakpoint
ALTER TABLE "sync_items" RENAME CONSTRAINT "sync_entries_run_id_sync_runs_id_fk" TO "sync_items_run_id_sync_runs_id_fk";--> statement-breakpoint
ALTER TABLE "purged_entries" RENAME TO "purged_items";--> statement-breakpoint
ALTER TABLE "purged_items" RENAME CONSTRAINT "purged_entries_project_id_codehost_repository_id_codehost_number_pk" TO "purged_items_project_id_codehost_repository_id_codehost_number_pk";--> statement-breakpoint
ALTER TABLE "purged_items" RENAME CONSTRAINT "purged_entries_project_id_projects_id_fk" TO "purged_items_project_id_projects_id_fk";
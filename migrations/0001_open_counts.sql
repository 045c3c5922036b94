-- How many open tasks each write adds to or takes from its lists. Statement-level: a batch of a hundred costs one row.
CREATE FUNCTION tasks_count_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO list_count_changes (list_id, change)
  SELECT list_id, count(*) FROM added WHERE status <> 'done' AND deleted_at IS NULL GROUP BY list_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION tasks_count_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO list_count_changes (list_id, change)
  SELECT list_id, sum(change) FROM (
    SELECT list_id, 1 AS change FROM added WHERE status <> 'done' AND deleted_at IS NULL
    UNION ALL
    SELECT list_id, -1 FROM removed WHERE status <> 'done' AND deleted_at IS NULL
  ) AS changes GROUP BY list_id HAVING sum(change) <> 0;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION tasks_count_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO list_count_changes (list_id, change)
  SELECT list_id, -count(*) FROM removed WHERE status <> 'done' AND deleted_at IS NULL GROUP BY list_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER tasks_count_inserted AFTER INSERT ON tasks REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION tasks_count_inserted();
--> statement-breakpoint
CREATE TRIGGER tasks_count_updated AFTER UPDATE ON tasks REFERENCING OLD TABLE AS removed NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION tasks_count_updated();
--> statement-breakpoint
CREATE TRIGGER tasks_count_deleted AFTER DELETE ON tasks REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION tasks_count_deleted();

-- Tasks that one statement creates are counted together where they count for the same: a hundred with the same labels
-- are one row to write, and one to add to the counts later, instead of a hundred. `sign` is their number, which a
-- smallint can hold for ten thousand. A single task needs no grouping, which would take longer than its row.
CREATE OR REPLACE FUNCTION tasks_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  inserted bigint;
BEGIN
  INSERT INTO task_text_changes (task_id) SELECT id FROM added;
  GET DIAGNOSTICS inserted = ROW_COUNT;
  IF inserted = 1 THEN
    INSERT INTO task_count_changes (sign, list_id, project_id, is_open, labels, assignees)
    SELECT 1, list_id, project_id, status <> 'done', labels, assignees FROM added WHERE deleted_at IS NULL;
  ELSE
    -- In the order of their first tasks: names keep the case in which they were written first.
    INSERT INTO task_count_changes (sign, list_id, project_id, is_open, labels, assignees)
    SELECT count(*), list_id, project_id, is_open, labels, assignees
    FROM (
      SELECT list_id, project_id, status <> 'done' AS is_open, labels, assignees, row_number() OVER () - 1 AS place
      FROM added WHERE deleted_at IS NULL
    ) AS counted
    GROUP BY place / 10000, list_id, project_id, is_open, labels, assignees ORDER BY min(place);
  END IF;
  RETURN NULL;
END $$;

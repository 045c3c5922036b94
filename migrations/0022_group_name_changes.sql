-- Tasks with the same names are one row before their names are read: most tasks share theirs with many others.
CREATE OR REPLACE VIEW "task_name_changes" AS
SELECT kind, project_id, name, task_change, open_change, ctid
FROM (
  SELECT project_id, labels, assignees, sum(sign)::integer AS task_change,
    coalesce(sum(sign) FILTER (WHERE is_open), 0)::integer AS open_change, min(ctid) AS ctid
  FROM task_count_changes GROUP BY project_id, labels, assignees
) AS changes,
  LATERAL (SELECT 'label' AS kind, unnest(labels) AS name UNION ALL SELECT 'assignee', unnest(assignees)) AS names;

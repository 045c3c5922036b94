-- What the sync of a repository was like before its attempts were counted. The other ways in and out say so with their next
-- attempt: their deliveries are kept for some days only, and do not have those that were refused. What has failed before is
-- no news: no activity says so after the upgrade.
INSERT INTO pipes (kind, id, last_attempt_at, last_success_at, last_error_at, error_code, error_detail, failing_since,
  is_logged_as_failing)
SELECT 'sync', connection_id, greatest(succeeded_at, failed_at), succeeded_at, failed_at, error ->> 'code',
  error ->> 'message', CASE WHEN is_failing THEN failed_at END, is_failing
FROM (
  SELECT connection_id::text, max(finished_at) FILTER (WHERE status = 'completed') AS succeeded_at,
    max(finished_at) FILTER (WHERE status = 'failed') AS failed_at,
    (array_agg(error ORDER BY finished_at DESC) FILTER (WHERE status = 'failed'))[1] AS error
  FROM sync_runs
  WHERE finished_at IS NOT NULL AND status IN ('completed', 'failed')
    AND connection_id IN (SELECT id FROM codehost_connections)
  GROUP BY connection_id
) AS runs
CROSS JOIN LATERAL (SELECT coalesce(failed_at > succeeded_at, succeeded_at IS NULL) AS is_failing) AS compared
ON CONFLICT DO NOTHING;

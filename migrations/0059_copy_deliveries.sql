-- Outside of a transaction: each step commits, and what is copied already is skipped after an interruption.
DO $$
DECLARE
  copied_to uuid := '00000000-0000-0000-0000-000000000000';
  step_end uuid;
BEGIN
  LOOP
    WITH part AS (
      SELECT * FROM old_feedback_events WHERE id > copied_to ORDER BY id LIMIT 500
    ), copied AS (
      INSERT INTO deliveries (id, receiver, source_id, project_id, list_id, dedup_key, sender_id, outcome, duplicates,
        attempts, received_at, tasks, routing, errors, payload, payload_cut)
      SELECT id, 'feedback', source_id, project_id, list_id, dedup_key, uuid, outcome, duplicates, 0, received_at,
        CASE WHEN task_id IS NULL THEN '[]'::jsonb
          ELSE jsonb_build_array(jsonb_build_object('taskId', task_id, 'created', true)) END,
        routing, errors, payload, payload_cut
      FROM part ON CONFLICT (id) DO NOTHING
    )
    SELECT id INTO step_end FROM part ORDER BY id DESC LIMIT 1;
    EXIT WHEN step_end IS NULL;
    copied_to := step_end;
    COMMIT;
  END LOOP;
END $$;--> statement-breakpoint
DO $$
DECLARE
  copied_to uuid := '00000000-0000-0000-0000-000000000000';
  step_end uuid;
BEGIN
  LOOP
    WITH part AS (
      SELECT old_source_events.*, sources.project_id AS source_project_id
      FROM old_source_events JOIN sources ON sources.id = source_id
      WHERE old_source_events.id > copied_to ORDER BY old_source_events.id LIMIT 500
    ), copied AS (
      INSERT INTO deliveries (id, receiver, source_id, project_id, list_id, dedup_key, sender_id, outcome, duplicates,
        attempts, received_at, tasks, errors, payload, payload_cut)
      SELECT id, 'source', source_id, coalesce(project_id, source_project_id), list_id, source_id || ' ' || dedup_key,
        delivery_id,
        CASE WHEN outcome = 'accepted' AND NOT tasks @> '[{"created": true}]' THEN 'updated' ELSE outcome END,
        duplicates, 0, received_at, tasks, errors, payload, payload_cut
      FROM part ON CONFLICT (id) DO NOTHING
    )
    SELECT id INTO step_end FROM part ORDER BY id DESC LIMIT 1;
    EXIT WHEN step_end IS NULL;
    copied_to := step_end;
    COMMIT;
  END LOOP;
END $$;--> statement-breakpoint
DO $$
DECLARE
  copied_connection uuid := '00000000-0000-0000-0000-000000000000';
  copied_to uuid := copied_connection;
  step_connection uuid;
  step_end uuid;
BEGIN
  LOOP
    WITH part AS (
      SELECT old.*, codehost_connections.project_id
      FROM old_codehost_deliveries AS old JOIN codehost_connections ON codehost_connections.id = connection_id
      WHERE (connection_id, old.id) > (copied_connection, copied_to) ORDER BY connection_id, old.id LIMIT 100
    ), copied AS (
      INSERT INTO deliveries (id, receiver, connection_id, project_id, dedup_key, sender_id, event, action, number,
        comment_id, outcome, reason, duplicates, attempts, received_at, next_attempt_at, tasks, payload, payload_cut)
      SELECT id, 'codehost', connection_id, project_id, connection_id || ' ' || delivery_id, delivery_id, event, action,
        number, comment_id,
        CASE status WHEN 'received' THEN 'pending' WHEN 'dropped' THEN 'ignored' WHEN 'failed' THEN 'failed'
          ELSE CASE event WHEN 'ping' THEN 'accepted' ELSE 'updated' END END,
        reason, 0, attempts, received_at, next_attempt_at,
        CASE WHEN task_id IS NULL THEN '[]'::jsonb
          ELSE jsonb_build_array(jsonb_build_object('taskId', task_id, 'created', false)) END,
        old_payload_text(payload), false
      FROM part ON CONFLICT (id) DO NOTHING
    )
    SELECT connection_id, id INTO step_connection, step_end FROM part ORDER BY connection_id DESC, id DESC LIMIT 1;
    EXIT WHEN step_end IS NULL;
    copied_connection := step_connection;
    copied_to := step_end;
    COMMIT;
  END LOOP;
END $$;

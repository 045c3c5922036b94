create table activity (
  id uuid not null,
  type text not null,
  message text,
  task_id uuid,
  project_id uuid,
  actor_type text not null,
  actor_id uuid,
  actor_name text not null,
  metadata jsonb not null,
  created_at timestamp(3) with time zone not null,
  transaction xid8 not null default pg_current_xact_id(),
  sequence bigint not null default nextval('activity_sequence_seq'::regclass),
  constraint activity_pkey PRIMARY KEY (id)
);

create table api_key_secrets (
  hash text not null,
  key_id uuid not null,
  prefix text not null,
  last_four text not null,
  expires_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  constraint api_key_secrets_key_id_api_keys_id_fk FOREIGN KEY (key_id) REFERENCES api_keys(id),
  constraint api_key_secrets_pkey PRIMARY KEY (hash)
);

create table api_keys (
  id uuid not null,
  name text not null,
  scopes text[] not null,
  project_id uuid,
  expires_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  last_used_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  created_by_type text,
  created_by_id uuid,
  created_by_name text,
  user_id uuid,
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id),
  constraint api_keys_user_id_users_id_fk FOREIGN KEY (user_id) REFERENCES users(id)
);

create table change_feed (
  is_only boolean not null default true,
  epoch uuid not null,
  database_id text not null,
  last_position bigint not null,
  snapshot pg_snapshot not null,
  pending_snapshot pg_snapshot,
  pending_sequence bigint,
  constraint change_feed_is_one_row CHECK (is_only),
  constraint change_feed_pkey PRIMARY KEY (is_only)
);

create table changes (
  "position" bigint not null,
  activity_id uuid not null,
  constraint changes_activity UNIQUE (activity_id),
  constraint changes_pkey PRIMARY KEY ("position")
);

create table closed_weeks (
  project_id uuid not null,
  week date not null,
  closer text not null,
  days integer not null,
  count integer not null,
  constraint closed_weeks_project_id_week_closer_days_pk PRIMARY KEY (project_id, week, closer, days)
);

create table codehost_connections (
  id uuid not null,
  project_id uuid not null,
  repository_id bigint not null,
  repository text not null,
  api_url text not null,
  token text,
  list_id uuid,
  schedule text not null,
  "position" jsonb,
  next_run_at timestamp(3) with time zone,
  next_full_at timestamp(3) with time zone not null,
  connected_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  webhook_secret text,
  app jsonb,
  write_back text not null default 'off'::text,
  comments boolean not null default false,
  comments_position jsonb,
  previous_webhook_secrets jsonb not null default '[]'::jsonb,
  constraint codehost_connections_list_id_lists_id_fk FOREIGN KEY (list_id) REFERENCES lists(id) ON DELETE SET NULL,
  constraint codehost_connections_pkey PRIMARY KEY (id),
  constraint codehost_connections_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE,
  constraint codehost_connections_project_id_unique UNIQUE (project_id)
);

create table codehost_labels (
  project_id uuid not null,
  name text not null,
  label text not null,
  color text not null,
  constraint codehost_labels_name_project_id_pk PRIMARY KEY (name, project_id),
  constraint codehost_labels_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
);

create table codehost_write_limits (
  token_key text not null,
  sent timestamp(3) with time zone[] not null,
  paused_until timestamp(3) with time zone,
  lease integer not null default 0,
  lease_until timestamp(3) with time zone,
  constraint codehost_write_limits_pkey PRIMARY KEY (token_key)
);

create table codehost_writes (
  id uuid not null,
  connection_id uuid not null,
  task_id uuid not null,
  kind text not null,
  comment_id uuid,
  payload jsonb not null,
  status text not null,
  attempts integer not null,
  next_attempt_at timestamp(3) with time zone not null,
  lease_until timestamp(3) with time zone,
  error jsonb,
  created_at timestamp(3) with time zone not null,
  finished_at timestamp(3) with time zone,
  first_attempt_at timestamp(3) with time zone,
  arrives_until timestamp(3) with time zone,
  constraint codehost_writes_connection_id_codehost_connections_id_fk FOREIGN KEY (connection_id) REFERENCES codehost_connections(id) ON DELETE CASCADE,
  constraint codehost_writes_pkey PRIMARY KEY (id),
  constraint codehost_writes_subject UNIQUE NULLS NOT DISTINCT (task_id, comment_id),
  constraint codehost_writes_task_id_tasks_id_fk FOREIGN KEY (task_id) REFERENCES tasks(id) ON DELETE CASCADE
);

create table comments (
  id uuid not null,
  task_id uuid not null,
  body text not null,
  author_type text not null,
  author_id uuid,
  author_name text not null,
  author_url text,
  is_public boolean not null,
  external_id bigint,
  external_url text,
  host_updated_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint comments_pkey PRIMARY KEY (id),
  constraint comments_task_id_tasks_id_fk FOREIGN KEY (task_id) REFERENCES tasks(id) ON DELETE CASCADE
);

create table counted_task_changes (
  task_id uuid not null
);

create table counted_tasks (
  task_id uuid not null,
  project_id uuid not null,
  source text not null,
  opened_at timestamp(3) with time zone not null,
  completed_at timestamp(3) with time zone,
  closer text,
  days integer,
  is_to_triage boolean not null,
  version text,
  sentiment text,
  report_of uuid,
  constraint counted_tasks_pkey PRIMARY KEY (task_id)
);

create table deliveries (
  id uuid not null,
  receiver text not null,
  source_id uuid,
  connection_id uuid,
  project_id uuid,
  list_id uuid,
  dedup_key text,
  sender_id text,
  event text,
  action text,
  number integer,
  comment_id bigint,
  outcome text not null,
  reason text,
  duplicates integer not null,
  attempts integer not null,
  received_at timestamp(3) with time zone not null,
  next_attempt_at timestamp(3) with time zone,
  tasks jsonb not null,
  routing jsonb,
  errors jsonb,
  payload text,
  payload_cut boolean not null,
  constraint deliveries_connection_id_codehost_connections_id_fk FOREIGN KEY (connection_id) REFERENCES codehost_connections(id) ON DELETE CASCADE,
  constraint deliveries_pkey PRIMARY KEY (id)
);

create table feedback_unreadable (
  day text not null,
  count integer not null,
  constraint feedback_unreadable_pkey PRIMARY KEY (day)
);

create table feedback_weeks (
  project_id uuid not null,
  week date not null,
  version text not null,
  sentiment text not null,
  count integer not null,
  constraint feedback_weeks_project_id_week_version_sentiment_pk PRIMARY KEY (project_id, week, version, sentiment)
);

create table idempotency_keys (
  caller_id uuid not null,
  route text not null,
  key text not null,
  request_hash text not null,
  status smallint,
  headers jsonb,
  body text,
  created_at timestamp(3) with time zone not null,
  completes_by timestamp(3) with time zone,
  constraint idempotency_keys_caller_id_route_key_pk PRIMARY KEY (caller_id, route, key)
);

create table identities (
  id uuid not null,
  issuer text not null,
  subject text not null,
  user_id uuid not null,
  provider_id text not null,
  created_at timestamp(3) with time zone not null,
  last_used_at timestamp(3) with time zone not null,
  is_role_managed boolean not null,
  redirect_url text,
  constraint identities_pkey PRIMARY KEY (id),
  constraint identities_subject UNIQUE (issuer, subject),
  constraint identities_user_id_users_id_fk FOREIGN KEY (user_id) REFERENCES users(id)
);

create table identity_providers (
  id uuid not null,
  name text not null,
  issuer text not null,
  client_id text not null,
  client_secret text not null,
  scopes text[] not null,
  groups_claim text not null,
  required_group text,
  role_by_group jsonb not null,
  create_users text not null,
  allowed_domains text[] not null,
  new_users jsonb,
  is_active boolean not null,
  created_at timestamp(3) with time zone not null,
  constraint identity_providers_pkey PRIMARY KEY (id)
);

create table invites (
  id uuid not null,
  hash text not null,
  user_id uuid,
  name text,
  email text,
  role text,
  project_ids uuid[],
  invited_by_type text not null,
  invited_by_id uuid,
  invited_by_name text not null,
  created_at timestamp(3) with time zone not null,
  expires_at timestamp(3) with time zone not null,
  constraint invites_hash_unique UNIQUE (hash),
  constraint invites_person CHECK (((num_nonnulls(user_id, role) = 1) AND ((role IS NULL) = (name IS NULL)) AND ((user_id IS NULL) OR (project_ids IS NULL)))),
  constraint invites_pkey PRIMARY KEY (id),
  constraint invites_reach CHECK (((project_ids IS NULL) OR ((role <> 'owner'::text) AND ((cardinality(project_ids) >= 1) AND (cardinality(project_ids) <= 20))))),
  constraint invites_user_id_users_id_fk FOREIGN KEY (user_id) REFERENCES users(id)
);

create table leases (
  name text not null,
  number bigint not null,
  lease_until timestamp(3) with time zone not null,
  constraint leases_pkey PRIMARY KEY (name)
);

create table list_deletions (
  list_id uuid not null,
  project_id uuid not null,
  target_id uuid not null,
  move_to uuid,
  actor_type text not null,
  actor_id uuid,
  actor_name text not null,
  created_at timestamp(3) with time zone not null,
  constraint list_deletions_list_id_lists_id_fk FOREIGN KEY (list_id) REFERENCES lists(id) ON DELETE CASCADE,
  constraint list_deletions_pkey PRIMARY KEY (list_id),
  constraint list_deletions_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
);

create table lists (
  id uuid not null,
  project_id uuid not null,
  name text not null,
  "position" integer not null,
  is_default boolean not null default false,
  open_count integer not null default 0,
  created_at timestamp(3) with time zone not null,
  is_closing boolean not null default false,
  constraint lists_id_project UNIQUE (id, project_id),
  constraint lists_pkey PRIMARY KEY (id),
  constraint lists_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);

create table notification_progress (
  is_only boolean not null default true,
  "position" bigint not null,
  history_until bigint not null,
  constraint notification_progress_is_one_row CHECK (is_only),
  constraint notification_progress_pkey PRIMARY KEY (is_only)
);

create table notifications (
  id uuid not null,
  user_id uuid not null,
  reason text not null,
  task_id uuid,
  count integer not null,
  actor_type text not null,
  actor_id uuid,
  actor_name text not null,
  created_at timestamp(3) with time zone not null,
  read_at timestamp(3) with time zone,
  constraint notifications_pkey PRIMARY KEY (id),
  constraint notifications_task_id_tasks_id_fk FOREIGN KEY (task_id) REFERENCES tasks(id) ON DELETE CASCADE,
  constraint notifications_user_id_users_id_fk FOREIGN KEY (user_id) REFERENCES users(id)
);

create table opened_weeks (
  project_id uuid not null,
  week date not null,
  source text not null,
  count integer not null,
  constraint opened_weeks_project_id_week_source_pk PRIMARY KEY (project_id, week, source)
);

create table overview_progress (
  is_only boolean not null default true,
  "position" bigint not null,
  filled_to uuid not null,
  is_filled boolean not null default false,
  constraint overview_progress_is_one_row CHECK (is_only),
  constraint overview_progress_pkey PRIMARY KEY (is_only)
);

create table passkeys (
  id uuid not null,
  user_id uuid not null,
  credential_id text not null,
  public_key bytea not null,
  counter bigint not null,
  rp_id text not null,
  transports text[] not null,
  name text not null,
  created_at timestamp(3) with time zone not null,
  last_used_at timestamp(3) with time zone,
  constraint passkeys_credential_id_unique UNIQUE (credential_id),
  constraint passkeys_pkey PRIMARY KEY (id),
  constraint passkeys_user_id_users_id_fk FOREIGN KEY (user_id) REFERENCES users(id)
);

create table passwords (
  user_id uuid not null,
  hash text not null,
  constraint passwords_pkey PRIMARY KEY (user_id),
  constraint passwords_user_id_users_id_fk FOREIGN KEY (user_id) REFERENCES users(id)
);

create table pipe_hours (
  kind text not null,
  id text not null,
  hour timestamp(3) with time zone not null,
  succeeded integer not null,
  failed integer not null,
  constraint pipe_hours_kind_id_hour_pk PRIMARY KEY (kind, id, hour),
  constraint pipe_hours_kind_id_pipes_kind_id_fk FOREIGN KEY (kind, id) REFERENCES pipes(kind, id) ON DELETE CASCADE
);

create table pipe_pauses (
  kind text not null,
  id text not null,
  day text not null,
  longest_seconds integer not null,
  constraint pipe_pauses_kind_id_day_pk PRIMARY KEY (kind, id, day),
  constraint pipe_pauses_kind_id_pipes_kind_id_fk FOREIGN KEY (kind, id) REFERENCES pipes(kind, id) ON DELETE CASCADE
);

create table pipes (
  kind text not null,
  id text not null,
  source_id uuid default 
CASE
    WHEN (kind = 'source'::text) THEN (id)::uuid
    ELSE NULL::uuid
END,
  connection_id uuid default 
CASE
    WHEN (kind = ANY (ARRAY['sync'::text, 'push'::text, 'write_back'::text])) THEN (id)::uuid
    ELSE NULL::uuid
END,
  webhook_id uuid default 
CASE
    WHEN (kind = 'webhook'::text) THEN (id)::uuid
    ELSE NULL::uuid
END,
  provider_id uuid default 
CASE
    WHEN ((kind = 'identity_provider'::text) AND (id <> 'env'::text)) THEN (id)::uuid
    ELSE NULL::uuid
END,
  last_attempt_at timestamp(3) with time zone not null,
  last_success_at timestamp(3) with time zone,
  last_error_at timestamp(3) with time zone,
  error_code text,
  error_detail text,
  failing_since timestamp(3) with time zone,
  is_logged_as_failing boolean not null default false,
  failure_logged_at timestamp(3) with time zone,
  constraint pipes_connection_id_codehost_connections_id_fk FOREIGN KEY (connection_id) REFERENCES codehost_connections(id) ON DELETE CASCADE,
  constraint pipes_kind_id_pk PRIMARY KEY (kind, id),
  constraint pipes_provider_id_identity_providers_id_fk FOREIGN KEY (provider_id) REFERENCES identity_providers(id) ON DELETE CASCADE,
  constraint pipes_source_id_sources_id_fk FOREIGN KEY (source_id) REFERENCES sources(id) ON DELETE CASCADE,
  constraint pipes_webhook_id_webhooks_id_fk FOREIGN KEY (webhook_id) REFERENCES webhooks(id) ON DELETE CASCADE
);

create table project_deletions (
  project_id uuid not null,
  actor_type text not null,
  actor_id uuid,
  actor_name text not null,
  created_at timestamp(3) with time zone not null,
  constraint project_deletions_pkey PRIMARY KEY (project_id),
  constraint project_deletions_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
);

create table projects (
  id uuid not null,
  name text not null,
  is_default boolean not null default false,
  archived_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  group_feedback text not null default 'suggest'::text,
  triage text not null default 'on'::text,
  constraint projects_pkey PRIMARY KEY (id)
);

create table purged_items (
  project_id uuid not null,
  codehost_repository_id bigint not null,
  codehost_number integer not null,
  constraint purged_items_project_id_codehost_repository_id_codehost_number_ PRIMARY KEY (project_id, codehost_repository_id, codehost_number),
  constraint purged_items_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
);

create table report_weeks (
  project_id uuid not null,
  week date not null,
  task_id uuid not null,
  count integer not null,
  constraint report_weeks_project_id_week_task_id_pk PRIMARY KEY (project_id, week, task_id)
);

create table rule_versions (
  rule_id uuid not null,
  version integer not null,
  content text not null,
  priority double precision not null,
  is_active boolean not null,
  created_at timestamp(3) with time zone not null,
  actor_type text not null,
  actor_id uuid,
  actor_name text not null,
  paths text[] not null default '{}'::text[],
  constraint rule_versions_rule_id_rules_id_fk FOREIGN KEY (rule_id) REFERENCES rules(id) ON DELETE CASCADE,
  constraint rule_versions_rule_id_version_pk PRIMARY KEY (rule_id, version)
);

create table rules (
  id uuid not null,
  content text not null,
  priority double precision not null,
  is_active boolean not null,
  project_id uuid,
  version integer not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  updated_by_type text not null,
  updated_by_id uuid,
  updated_by_name text not null,
  deleted_at timestamp(3) with time zone,
  paths text[] not null default '{}'::text[],
  constraint rules_pkey PRIMARY KEY (id),
  constraint rules_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id)
);

create table saved_filters (
  id uuid not null,
  key_id uuid,
  name text not null,
  query jsonb not null,
  created_at timestamp(3) with time zone not null,
  user_id uuid,
  constraint saved_filters_holder CHECK ((num_nonnulls(key_id, user_id) = 1)),
  constraint saved_filters_key_id_api_keys_id_fk FOREIGN KEY (key_id) REFERENCES api_keys(id) ON DELETE CASCADE,
  constraint saved_filters_pkey PRIMARY KEY (id),
  constraint saved_filters_user_id_users_id_fk FOREIGN KEY (user_id) REFERENCES users(id)
);

create table sessions (
  id uuid not null,
  hash text not null,
  key_id uuid,
  user_agent text,
  created_at timestamp(3) with time zone not null,
  last_seen_at timestamp(3) with time zone not null,
  secret_hash text,
  user_id uuid,
  constraint sessions_hash_unique UNIQUE (hash),
  constraint sessions_holder CHECK (((num_nonnulls(key_id, user_id) = 1) AND ((key_id IS NULL) = (secret_hash IS NULL)))),
  constraint sessions_key_id_api_keys_id_fk FOREIGN KEY (key_id) REFERENCES api_keys(id),
  constraint sessions_pkey PRIMARY KEY (id),
  constraint sessions_secret_hash_api_key_secrets_hash_fk FOREIGN KEY (secret_hash) REFERENCES api_key_secrets(hash),
  constraint sessions_user_id_users_id_fk FOREIGN KEY (user_id) REFERENCES users(id)
);

create table sign_in_attempts (
  hash text not null,
  checks jsonb not null,
  user_id uuid,
  expires_at timestamp(3) with time zone not null,
  constraint sign_in_attempts_pkey PRIMARY KEY (hash),
  constraint sign_in_attempts_user_id_users_id_fk FOREIGN KEY (user_id) REFERENCES users(id)
);

create table source_backlog (
  delivery_id uuid not null,
  source_id uuid not null,
  "position" integer not null,
  body bytea not null,
  due_at timestamp(3) with time zone not null,
  constraint source_backlog_delivery_id_deliveries_id_fk FOREIGN KEY (delivery_id) REFERENCES deliveries(id) ON DELETE CASCADE,
  constraint source_backlog_pkey PRIMARY KEY (delivery_id)
);

create table source_items (
  source_id uuid not null,
  key text not null,
  hash text,
  delivery_id uuid,
  task_id uuid,
  received_at timestamp(3) with time zone,
  constraint source_items_source_id_key_pk PRIMARY KEY (source_id, key),
  constraint source_items_source_id_sources_id_fk FOREIGN KEY (source_id) REFERENCES sources(id) ON DELETE CASCADE
);

create table sources (
  id uuid not null,
  name text not null,
  project_id uuid not null,
  list_id uuid,
  scheme text not null,
  header text,
  prefix text,
  secret text not null,
  each text,
  filter text,
  template jsonb,
  is_active boolean not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  disabled_reason text,
  slow_deliveries integer not null default 0,
  mapping text not null default 'template'::text,
  clears text[] not null default '{}'::text[],
  previous_secrets jsonb not null default '[]'::jsonb,
  constraint sources_list_id_lists_id_fk FOREIGN KEY (list_id) REFERENCES lists(id) ON DELETE SET NULL,
  constraint sources_mapping CHECK (((mapping = 'template'::text) = (template IS NOT NULL))),
  constraint sources_pkey PRIMARY KEY (id),
  constraint sources_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
);

create table sync_items (
  run_id uuid not null,
  number integer not null,
  outcome text not null,
  constraint sync_items_run_id_number_pk PRIMARY KEY (run_id, number),
  constraint sync_items_run_id_sync_runs_id_fk FOREIGN KEY (run_id) REFERENCES sync_runs(id) ON DELETE CASCADE
);

create table sync_runs (
  id uuid not null,
  project_id uuid not null,
  connection_id uuid not null,
  status text not null,
  mode text not null,
  fetched integer not null default 0,
  counts jsonb not null,
  skipped jsonb not null default '[]'::jsonb,
  gone integer not null default 0,
  error jsonb,
  retry_at timestamp(3) with time zone,
  rate_limit jsonb,
  checkpoint jsonb,
  lease integer not null default 0,
  lease_until timestamp(3) with time zone,
  attempts integer not null default 0,
  limited integer not null default 0,
  created_at timestamp(3) with time zone not null,
  started_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  total integer,
  constraint sync_runs_pkey PRIMARY KEY (id),
  constraint sync_runs_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
);

create table task_count_changes (
  sign smallint not null,
  list_id uuid not null,
  project_id uuid not null,
  is_open boolean not null,
  labels text[] not null,
  assignees text[] not null
);

create table task_followers (
  task_id uuid not null,
  user_id uuid not null,
  is_following boolean not null,
  changed_at timestamp(3) with time zone not null,
  constraint task_followers_task_id_tasks_id_fk FOREIGN KEY (task_id) REFERENCES tasks(id) ON DELETE CASCADE,
  constraint task_followers_task_id_user_id_pk PRIMARY KEY (task_id, user_id),
  constraint task_followers_user_id_users_id_fk FOREIGN KEY (user_id) REFERENCES users(id)
);

create table task_mentions (
  source_id uuid not null,
  user_id uuid not null,
  task_id uuid not null,
  constraint task_mentions_source_id_user_id_pk PRIMARY KEY (source_id, user_id),
  constraint task_mentions_task_id_tasks_id_fk FOREIGN KEY (task_id) REFERENCES tasks(id) ON DELETE CASCADE,
  constraint task_mentions_user_id_users_id_fk FOREIGN KEY (user_id) REFERENCES users(id)
);

create table task_names (
  kind text not null,
  project_id uuid not null,
  key text not null,
  name text not null,
  task_count integer not null,
  open_count integer not null,
  constraint task_names_kind_project_id_key_pk PRIMARY KEY (kind, project_id, key)
);

create table task_text_changes (
  task_id uuid not null
);

create table task_texts (
  task_id uuid not null,
  title text not null,
  beginning text,
  names text,
  constraint task_texts_pkey PRIMARY KEY (task_id)
);

create table tasks (
  id uuid not null,
  title text not null,
  description text,
  status text not null,
  priority smallint not null,
  source text not null,
  project_id uuid not null,
  list_id uuid not null,
  external_id text,
  external_url text,
  labels text[] not null,
  assignees text[] not null,
  codehost_repository_id bigint,
  codehost_number integer,
  codehost_kind text,
  codehost_state text,
  closed_reason text,
  source_state text not null default 'present'::text,
  notes text,
  metadata jsonb not null,
  created_by_type text not null,
  created_by_id uuid,
  created_by_name text not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  completed_at timestamp(3) with time zone,
  deleted_at timestamp(3) with time zone,
  version integer not null,
  comment_count integer not null default 0,
  author_name text,
  author_url text,
  is_draft boolean,
  host_updated_at timestamp(3) with time zone,
  opened_at timestamp(3) with time zone not null default now(),
  merged_into uuid,
  status_before_merge text,
  report_count integer not null default 0,
  note_key text,
  write_back jsonb,
  source_id uuid,
  blocked_by uuid[] not null default '{}'::uuid[],
  claim_number integer not null default 0,
  claim_expires_at timestamp(3) with time zone,
  claimed_by_type text,
  claimed_by_id uuid,
  claimed_by_name text,
  triaged boolean not null default true,
  snoozed_until timestamp(3) with time zone,
  question jsonb,
  constraint tasks_completed_when_done CHECK (((status = 'done'::text) = (completed_at IS NOT NULL))),
  constraint tasks_list_in_project FOREIGN KEY (list_id, project_id) REFERENCES lists(id, project_id),
  constraint tasks_pkey PRIMARY KEY (id),
  constraint tasks_priority_range CHECK (((priority >= 1) AND (priority <= 3)))
);

create table untriaged_counts (
  project_id uuid not null,
  count integer not null,
  constraint untriaged_counts_pkey PRIMARY KEY (project_id)
);

create table users (
  id uuid not null,
  username text not null,
  name text not null,
  email text,
  role text not null,
  project_ids uuid[],
  is_active boolean not null,
  last_seen_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  constraint users_pkey PRIMARY KEY (id),
  constraint users_reach CHECK (((project_ids IS NULL) OR ((role <> 'owner'::text) AND ((cardinality(project_ids) >= 1) AND (cardinality(project_ids) <= 20))))),
  constraint users_username_unique UNIQUE (username)
);

create table webhook_deliveries (
  webhook_id uuid not null,
  id uuid not null,
  "position" bigint,
  type text not null,
  activity_id uuid,
  task_id uuid,
  outcome text not null,
  attempts integer not null,
  created_at timestamp(3) with time zone not null,
  last_attempt_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  duration_ms integer,
  response_status integer,
  response_body text,
  error text,
  constraint webhook_deliveries_webhook_id_id_pk PRIMARY KEY (webhook_id, id),
  constraint webhook_deliveries_webhook_id_webhooks_id_fk FOREIGN KEY (webhook_id) REFERENCES webhooks(id) ON DELETE CASCADE
);

create table webhook_routing (
  id uuid not null,
  name text,
  project_match text,
  app_match text,
  target_project_id uuid not null,
  "position" integer not null,
  is_active boolean not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint webhook_routing_pkey PRIMARY KEY (id)
);

create table webhook_secrets (
  id uuid not null,
  hash text not null,
  last_four text not null,
  created_at timestamp(3) with time zone not null,
  expires_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  last_used_at timestamp(3) with time zone,
  constraint webhook_secrets_hash_unique UNIQUE (hash),
  constraint webhook_secrets_pkey PRIMARY KEY (id)
);

create table webhooks (
  id uuid not null,
  name text not null,
  url text not null,
  types text[] not null,
  project_id uuid,
  secret text,
  is_active boolean not null,
  disabled_reason text,
  "position" bigint not null,
  failures integer not null default 0,
  next_attempt_at timestamp(3) with time zone,
  lease integer not null default 0,
  lease_until timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null,
  pauses jsonb not null default '[]'::jsonb,
  scheduled_attempt_at timestamp(3) with time zone,
  previous_secrets jsonb not null default '[]'::jsonb,
  constraint webhooks_pkey PRIMARY KEY (id),
  constraint webhooks_project_id_projects_id_fk FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE
);

CREATE INDEX activity_actor ON public.activity USING btree (actor_id, id);
CREATE INDEX activity_project ON public.activity USING btree (project_id, id);
CREATE INDEX activity_task ON public.activity USING btree (task_id, id) WHERE (task_id IS NOT NULL);
CREATE INDEX activity_transaction ON public.activity USING btree (transaction);
CREATE INDEX activity_type ON public.activity USING btree (type, id);
CREATE INDEX api_key_secrets_key ON public.api_key_secrets USING btree (key_id);
CREATE INDEX api_keys_user ON public.api_keys USING btree (user_id, id);
CREATE INDEX closed_weeks_unused ON public.closed_weeks USING btree (project_id) WHERE (count = 0);
CREATE INDEX codehost_connections_list ON public.codehost_connections USING btree (list_id) WHERE (list_id IS NOT NULL);
CREATE INDEX codehost_connections_next_run ON public.codehost_connections USING btree (next_run_at) WHERE (next_run_at IS NOT NULL);
CREATE INDEX codehost_writes_connection ON public.codehost_writes USING btree (connection_id);
CREATE INDEX codehost_writes_due ON public.codehost_writes USING btree (status, next_attempt_at) WHERE (status <> 'done'::text);
CREATE UNIQUE INDEX comments_external ON public.comments USING btree (task_id, external_id) WHERE (external_id IS NOT NULL);
CREATE INDEX comments_external_id ON public.comments USING btree (external_id) WHERE (external_id IS NOT NULL);
CREATE INDEX comments_task ON public.comments USING btree (task_id, id);
CREATE INDEX counted_tasks_open ON public.counted_tasks USING btree (project_id, opened_at) WHERE (completed_at IS NULL);
CREATE INDEX counted_tasks_to_triage ON public.counted_tasks USING btree (project_id, task_id) WHERE is_to_triage;
CREATE INDEX deliveries_connection ON public.deliveries USING btree (connection_id, id) WHERE (connection_id IS NOT NULL);
CREATE UNIQUE INDEX deliveries_dedup ON public.deliveries USING btree (dedup_key) WHERE (dedup_key IS NOT NULL);
CREATE INDEX deliveries_deleted_comment ON public.deliveries USING btree (connection_id, comment_id) WHERE ((event = 'issue_comment'::text) AND (action = 'deleted'::text));
CREATE INDEX deliveries_due ON public.deliveries USING btree (next_attempt_at) WHERE ((receiver = 'codehost'::text) AND (outcome = 'pending'::text));
CREATE INDEX deliveries_gone ON public.deliveries USING btree (connection_id, number) WHERE (action = ANY (ARRAY['deleted'::text, 'transferred'::text]));
CREATE INDEX deliveries_ignored ON public.deliveries USING btree (id) WHERE (outcome = ANY (ARRAY['ignored'::text, 'filtered'::text]));
CREATE INDEX deliveries_outcome ON public.deliveries USING btree (receiver, outcome, id);
CREATE INDEX deliveries_payload ON public.deliveries USING btree (id) WHERE (payload IS NOT NULL);
CREATE INDEX deliveries_project ON public.deliveries USING btree (project_id, receiver, outcome, id);
CREATE INDEX deliveries_sender ON public.deliveries USING btree (sender_id, receiver, outcome, id) WHERE (sender_id IS NOT NULL);
CREATE INDEX deliveries_sender_project ON public.deliveries USING btree ((((sender_id || ' '::text) || (project_id)::text)), receiver, outcome, id) WHERE ((sender_id IS NOT NULL) AND (project_id IS NOT NULL));
CREATE INDEX deliveries_source ON public.deliveries USING btree (source_id, receiver, outcome, id) WHERE (source_id IS NOT NULL);
CREATE INDEX feedback_weeks_unused ON public.feedback_weeks USING btree (project_id) WHERE (count = 0);
CREATE INDEX idempotency_keys_created ON public.idempotency_keys USING btree (created_at);
CREATE INDEX identities_provider ON public.identities USING btree (provider_id);
CREATE INDEX identities_user ON public.identities USING btree (user_id);
CREATE INDEX invites_user ON public.invites USING btree (user_id);
CREATE INDEX list_deletions_target ON public.list_deletions USING btree (target_id);
CREATE UNIQUE INDEX lists_one_default ON public.lists USING btree (project_id) WHERE is_default;
CREATE INDEX lists_project_position ON public.lists USING btree (project_id, "position", id);
CREATE INDEX notifications_read ON public.notifications USING btree (read_at) WHERE (read_at IS NOT NULL);
CREATE INDEX notifications_task ON public.notifications USING btree (task_id) WHERE (task_id IS NOT NULL);
CREATE UNIQUE INDEX notifications_unread_service ON public.notifications USING btree (user_id, reason) WHERE ((read_at IS NULL) AND (task_id IS NULL));
CREATE UNIQUE INDEX notifications_unread_task ON public.notifications USING btree (user_id, task_id, reason) WHERE ((read_at IS NULL) AND (task_id IS NOT NULL));
CREATE INDEX notifications_user ON public.notifications USING btree (user_id, id);
CREATE INDEX notifications_user_unread ON public.notifications USING btree (user_id, id) WHERE (read_at IS NULL);
CREATE INDEX opened_weeks_unused ON public.opened_weeks USING btree (project_id) WHERE (count = 0);
CREATE INDEX passkeys_user ON public.passkeys USING btree (user_id);
CREATE INDEX pipe_hours_hour ON public.pipe_hours USING btree (hour);
CREATE INDEX pipe_pauses_day ON public.pipe_pauses USING btree (day);
CREATE INDEX pipes_connection ON public.pipes USING btree (connection_id) WHERE (connection_id IS NOT NULL);
CREATE INDEX pipes_logged_failing ON public.pipes USING btree (kind, id) WHERE is_logged_as_failing;
CREATE INDEX pipes_provider ON public.pipes USING btree (provider_id) WHERE (provider_id IS NOT NULL);
CREATE INDEX pipes_source ON public.pipes USING btree (source_id) WHERE (source_id IS NOT NULL);
CREATE INDEX pipes_unlogged ON public.pipes USING btree (kind, id) WHERE ((failing_since IS NOT NULL) <> is_logged_as_failing);
CREATE INDEX pipes_webhook ON public.pipes USING btree (webhook_id) WHERE (webhook_id IS NOT NULL);
CREATE UNIQUE INDEX projects_one_default ON public.projects USING btree (is_default) WHERE is_default;
CREATE INDEX report_weeks_unused ON public.report_weeks USING btree (project_id) WHERE (count = 0);
CREATE INDEX rules_order ON public.rules USING btree (project_id, priority DESC NULLS LAST, created_at, id) WHERE (deleted_at IS NULL);
CREATE INDEX saved_filters_key ON public.saved_filters USING btree (key_id, id);
CREATE INDEX saved_filters_user ON public.saved_filters USING btree (user_id, id);
CREATE INDEX sessions_key ON public.sessions USING btree (key_id);
CREATE INDEX sessions_last_seen ON public.sessions USING btree (last_seen_at);
CREATE INDEX sessions_user ON public.sessions USING btree (user_id);
CREATE INDEX sign_in_attempts_expires ON public.sign_in_attempts USING btree (expires_at);
CREATE INDEX sign_in_attempts_user ON public.sign_in_attempts USING btree (user_id);
CREATE UNIQUE INDEX source_backlog_source ON public.source_backlog USING btree (source_id, "position");
CREATE INDEX source_items_received ON public.source_items USING btree (received_at) WHERE (key ~~ 'item:%'::text);
CREATE INDEX sources_list ON public.sources USING btree (list_id) WHERE (list_id IS NOT NULL);
CREATE INDEX sources_project ON public.sources USING btree (project_id, id);
CREATE UNIQUE INDEX sync_runs_one_active ON public.sync_runs USING btree (project_id) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text, 'rate_limited'::text]));
CREATE INDEX sync_runs_project ON public.sync_runs USING btree (project_id, id);
CREATE INDEX task_mentions_task ON public.task_mentions USING btree (task_id);
CREATE INDEX task_names_project_used ON public.task_names USING btree (kind, project_id, open_count);
CREATE INDEX task_names_unused ON public.task_names USING btree (kind, project_id, key) WHERE (task_count = 0);
CREATE INDEX task_names_used ON public.task_names USING btree (kind, open_count);
CREATE INDEX task_texts_names ON public.task_texts USING gin (names gin_trgm_ops) WHERE (names IS NOT NULL);
CREATE INDEX task_texts_trigrams ON public.task_texts USING gin (title gin_trgm_ops, beginning gin_trgm_ops);
CREATE INDEX tasks_assignees ON public.tasks USING gin (lower_names(assignees)) WITH (gin_pending_list_limit='256') WHERE ((assignees <> '{}'::text[]) AND (deleted_at IS NULL));
CREATE INDEX tasks_claims ON public.tasks USING btree (claim_expires_at) WHERE (claim_expires_at IS NOT NULL);
CREATE UNIQUE INDEX tasks_codehost ON public.tasks USING btree (project_id, codehost_repository_id, codehost_number) WHERE (codehost_number IS NOT NULL);
CREATE INDEX tasks_codehost_number ON public.tasks USING btree (codehost_number) WHERE (codehost_number IS NOT NULL);
CREATE UNIQUE INDEX tasks_external ON public.tasks USING btree (external_id, project_id, source, source_id) NULLS NOT DISTINCT WHERE ((deleted_at IS NULL) AND (external_id IS NOT NULL));
CREATE INDEX tasks_labels ON public.tasks USING gin (lower_names(labels)) WITH (gin_pending_list_limit='256') WHERE ((labels <> '{}'::text[]) AND (deleted_at IS NULL));
CREATE INDEX tasks_list_created ON public.tasks USING btree (list_id, id);
CREATE INDEX tasks_list_opened ON public.tasks USING btree (list_id, opened_at, id) WHERE (deleted_at IS NULL);
CREATE INDEX tasks_list_priority ON public.tasks USING btree (list_id, priority, id) WHERE (deleted_at IS NULL);
CREATE INDEX tasks_list_reports ON public.tasks USING btree (list_id, report_count, id) WHERE ((report_count > 0) AND (deleted_at IS NULL));
CREATE INDEX tasks_list_status ON public.tasks USING btree (list_id, status, id) WHERE (deleted_at IS NULL);
CREATE INDEX tasks_list_updated ON public.tasks USING btree (list_id, updated_at, id) WHERE (deleted_at IS NULL);
CREATE INDEX tasks_merged ON public.tasks USING btree (merged_into, id) WHERE ((merged_into IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX tasks_notes ON public.tasks USING btree (project_id, note_key, id) WHERE ((note_key IS NOT NULL) AND (status <> 'done'::text) AND (deleted_at IS NULL));
CREATE INDEX tasks_opened ON public.tasks USING btree (opened_at, id) WHERE (deleted_at IS NULL);
CREATE INDEX tasks_priority ON public.tasks USING btree (priority, id) WHERE (deleted_at IS NULL);
CREATE INDEX tasks_project_created ON public.tasks USING btree (project_id, id) WHERE (deleted_at IS NULL);
CREATE INDEX tasks_project_opened ON public.tasks USING btree (project_id, opened_at, id) WHERE (deleted_at IS NULL);
CREATE INDEX tasks_project_priority ON public.tasks USING btree (project_id, priority, id) WHERE (deleted_at IS NULL);
CREATE INDEX tasks_project_ready ON public.tasks USING btree (project_id, priority DESC, id) WHERE ((status = 'open'::text) AND (deleted_at IS NULL) AND (snoozed_until IS NULL));
CREATE INDEX tasks_project_reports ON public.tasks USING btree (project_id, report_count, id) WHERE ((report_count > 0) AND (deleted_at IS NULL));
CREATE INDEX tasks_project_to_triage ON public.tasks USING btree (project_id, id) WHERE ((NOT triaged) AND (status <> 'done'::text) AND (deleted_at IS NULL));
CREATE INDEX tasks_project_trash ON public.tasks USING btree (project_id, deleted_at, id) WHERE (deleted_at IS NOT NULL);
CREATE INDEX tasks_project_updated ON public.tasks USING btree (project_id, updated_at, id) WHERE (deleted_at IS NULL);
CREATE INDEX tasks_questions ON public.tasks USING btree (id) WHERE (question IS NOT NULL);
CREATE INDEX tasks_ready ON public.tasks USING btree (priority DESC, id) WHERE ((status = 'open'::text) AND (deleted_at IS NULL) AND (snoozed_until IS NULL));
CREATE INDEX tasks_reports ON public.tasks USING btree (report_count, id) WHERE ((report_count > 0) AND (deleted_at IS NULL));
CREATE INDEX tasks_snoozed ON public.tasks USING btree (snoozed_until) WHERE (snoozed_until IS NOT NULL);
CREATE INDEX tasks_to_triage ON public.tasks USING btree (id) WHERE ((NOT triaged) AND (status <> 'done'::text) AND (deleted_at IS NULL));
CREATE INDEX tasks_trash ON public.tasks USING btree (deleted_at, id) WHERE (deleted_at IS NOT NULL);
CREATE INDEX tasks_updated ON public.tasks USING btree (updated_at, id) WHERE (deleted_at IS NULL);
CREATE INDEX webhook_deliveries_finished ON public.webhook_deliveries USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE INDEX webhook_deliveries_undelivered ON public.webhook_deliveries USING btree (webhook_id, outcome, id) WHERE (outcome <> 'delivered'::text);
CREATE INDEX webhook_deliveries_waiting ON public.webhook_deliveries USING btree (webhook_id, "position") WHERE ((outcome <> 'delivered'::text) AND ("position" IS NOT NULL));
CREATE OR REPLACE FUNCTION public.lower_names(names text[])
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
BEGIN
  RETURN lower(names::text)::text[];
END $function$
;
CREATE OR REPLACE FUNCTION public.sources_deliveries_deleted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  DELETE FROM deliveries WHERE source_id = OLD.id AND receiver = 'source';
  RETURN NULL;
END $function$
;
CREATE TRIGGER sources_deliveries_deleted AFTER DELETE ON public.sources FOR EACH ROW EXECUTE FUNCTION sources_deliveries_deleted();
CREATE OR REPLACE FUNCTION public.tasks_deleted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO task_text_changes (task_id) SELECT id FROM removed;
  INSERT INTO task_count_changes (sign, list_id, project_id, is_open, labels, assignees)
  SELECT -1, list_id, project_id, status <> 'done', labels, assignees FROM removed WHERE deleted_at IS NULL;
  RETURN NULL;
END $function$
;
CREATE TRIGGER tasks_deleted AFTER DELETE ON public.tasks REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION tasks_deleted();
CREATE OR REPLACE FUNCTION public.tasks_inserted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
END $function$
;
CREATE TRIGGER tasks_inserted AFTER INSERT ON public.tasks REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION tasks_inserted();
CREATE OR REPLACE FUNCTION public.tasks_recounted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO task_count_changes (sign, list_id, project_id, is_open, labels, assignees)
  SELECT sign, list_id, project_id, is_open, labels, assignees FROM (VALUES
    (-1, OLD.list_id, OLD.project_id, OLD.status <> 'done', OLD.labels, OLD.assignees, OLD.deleted_at),
    (1, NEW.list_id, NEW.project_id, NEW.status <> 'done', NEW.labels, NEW.assignees, NEW.deleted_at)
  ) AS task (sign, list_id, project_id, is_open, labels, assignees, deleted_at) WHERE deleted_at IS NULL;
  RETURN NULL;
END $function$
;
CREATE TRIGGER tasks_recounted AFTER UPDATE ON public.tasks FOR EACH ROW WHEN ((((old.deleted_at IS NULL) OR (new.deleted_at IS NULL)) AND (((old.status = 'done'::text) <> (new.status = 'done'::text)) OR ((old.deleted_at IS NULL) <> (new.deleted_at IS NULL)) OR (old.list_id <> new.list_id) OR (old.project_id <> new.project_id) OR (old.labels <> new.labels) OR (old.assignees <> new.assignees)))) EXECUTE FUNCTION tasks_recounted();
CREATE OR REPLACE FUNCTION public.tasks_text_updated()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO task_text_changes (task_id) VALUES (NEW.id);
  RETURN NULL;
END $function$
;
CREATE TRIGGER tasks_text_updated AFTER UPDATE OF title, description, external_id, labels, assignees ON public.tasks FOR EACH ROW WHEN (((old.title IS DISTINCT FROM new.title) OR (old.description IS DISTINCT FROM new.description) OR (old.external_id IS DISTINCT FROM new.external_id) OR (old.labels <> new.labels) OR (old.assignees <> new.assignees))) EXECUTE FUNCTION tasks_text_updated();
CREATE OR REPLACE FUNCTION public.tasks_times_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO counted_task_changes (task_id) VALUES (NEW.id);
  RETURN NULL;
END $function$
;
CREATE TRIGGER tasks_times_changed AFTER UPDATE ON public.tasks FOR EACH ROW WHEN (((old.opened_at <> new.opened_at) OR (old.completed_at <> new.completed_at))) EXECUTE FUNCTION tasks_times_changed();

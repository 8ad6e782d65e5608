-- Schema control: what a new database starts with.

CREATE SCHEMA control;
GRANT USAGE ON SCHEMA control TO tidemark_control, tidemark_control_worker, tidemark_definer, tidemark_reports,
  tidemark_runs, tidemark_usage, tidemark_usage_worker;
-- To own what follows; taken back at the end.
GRANT CREATE ON SCHEMA control TO tidemark_control, tidemark_definer;

CREATE TABLE control.device_logins (
  credential_id text COLLATE "C" NOT NULL,
  hash bytea NOT NULL,
  user_code_hash bytea NOT NULL,
  status text DEFAULT 'pending' NOT NULL,
  client_name text,
  client_version text,
  org_id uuid,
  user_id uuid,
  created_at timestamptz DEFAULT now() NOT NULL,
  expires_at timestamptz NOT NULL,
  last_polled_at timestamptz,
  CONSTRAINT device_logins_pkey PRIMARY KEY (credential_id),
  CONSTRAINT device_logins_user_code_hash_key UNIQUE (user_code_hash),
  CONSTRAINT device_logins_hash_check CHECK (octet_length(hash) = 32),
  CONSTRAINT device_logins_status_check CHECK (status IN ('pending', 'approved', 'finished'))
);
CREATE INDEX device_logins_by_end ON control.device_logins (expires_at);
GRANT SELECT, INSERT, UPDATE ON TABLE control.device_logins TO tidemark_control;
GRANT SELECT, DELETE ON TABLE control.device_logins TO tidemark_control_worker;

CREATE TABLE control.one_time_tokens (
  credential_id text COLLATE "C" NOT NULL,
  hash bytea NOT NULL,
  org_id uuid NOT NULL,
  user_id uuid NOT NULL,
  expires_at timestamptz NOT NULL,
  CONSTRAINT one_time_tokens_pkey PRIMARY KEY (credential_id),
  CONSTRAINT one_time_tokens_hash_check CHECK (octet_length(hash) = 32)
);
COMMENT ON TABLE control.one_time_tokens IS 'Tokens that open one session of a member.';
GRANT SELECT, INSERT, DELETE ON TABLE control.one_time_tokens TO tidemark_control;
GRANT SELECT, DELETE ON TABLE control.one_time_tokens TO tidemark_control_worker;

CREATE TABLE control.users (
  id uuid NOT NULL,
  email text NOT NULL,
  display_name text,
  avatar_url text,
  created_at timestamptz DEFAULT now() NOT NULL,
  last_seen_at timestamptz,
  CONSTRAINT users_pkey PRIMARY KEY (id),
  CONSTRAINT users_email_key UNIQUE (email)
);
CREATE INDEX users_by_age ON control.users (created_at, id);
GRANT SELECT, INSERT, UPDATE ON TABLE control.users TO tidemark_control;
GRANT SELECT, UPDATE (last_seen_at) ON TABLE control.users TO tidemark_definer;

CREATE TABLE control.identities (
  issuer text NOT NULL,
  subject text NOT NULL,
  user_id uuid NOT NULL,
  created_at timestamptz DEFAULT now() NOT NULL,
  CONSTRAINT identities_pkey PRIMARY KEY (issuer, subject),
  CONSTRAINT identities_user_id_issuer_key UNIQUE (user_id, issuer),
  CONSTRAINT identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES control.users(id),
  CONSTRAINT identities_issuer_check CHECK (octet_length(issuer) >= 1 AND octet_length(issuer) <= 1024),
  CONSTRAINT identities_subject_check CHECK (octet_length(subject) >= 1 AND octet_length(subject) <= 255)
);
COMMENT ON TABLE control.identities IS
  'Whom a provider of OpenID Connect vouches for, and the user that they are here.';
GRANT SELECT, INSERT ON TABLE control.identities TO tidemark_control;

CREATE TABLE control.organizations (
  org_id uuid NOT NULL,
  slug text NOT NULL,
  name text NOT NULL,
  plan_tier text NOT NULL,
  billing_state text NOT NULL,
  account_type text NOT NULL,
  seat_limit integer NOT NULL,
  created_by_user_id uuid,
  created_at timestamptz DEFAULT now() NOT NULL,
  deleted_at timestamptz,
  changed_xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
  purge_after timestamptz,
  CONSTRAINT organizations_pkey PRIMARY KEY (org_id),
  CONSTRAINT organizations_slug_key UNIQUE (slug),
  CONSTRAINT organizations_created_by_user_id_fkey FOREIGN KEY (created_by_user_id) REFERENCES control.users(id),
  CONSTRAINT organizations_account_type_check CHECK (account_type IN ('personal', 'business', 'customer')),
  CONSTRAINT organizations_billing_state_check CHECK (billing_state IN ('free_active', 'checkout_pending',
    'paid_active', 'past_due_grace', 'read_only_payment_required', 'canceled')),
  CONSTRAINT organizations_check CHECK ((deleted_at IS NULL) = (purge_after IS NULL)),
  CONSTRAINT organizations_plan_tier_check CHECK (plan_tier IN ('free', 'pro', 'premium')),
  CONSTRAINT organizations_seat_limit_check CHECK (seat_limit >= 1),
  CONSTRAINT organizations_slug_check CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$')
);
COMMENT ON COLUMN control.organizations.purge_after IS
  'when everything is removed; until then the organization can be restored. The infinite past: the removal has '
  'begun';
CREATE INDEX organizations_by_age ON control.organizations (created_at, org_id);
CREATE INDEX organizations_changed ON control.organizations (changed_xid, org_id);
CREATE INDEX organizations_to_remove ON control.organizations (purge_after) WHERE purge_after > '-infinity'::timestamptz;
SELECT platform.fence('control.organizations');
SELECT platform.unfence_for('control.organizations', 'tidemark_control_worker');
SELECT platform.unfence_for('control.organizations', 'tidemark_definer');
GRANT SELECT, INSERT, UPDATE ON TABLE control.organizations TO tidemark_control;
GRANT SELECT, UPDATE (name, created_by_user_id, changed_xid,
  purge_after) ON TABLE control.organizations TO tidemark_control_worker;
GRANT SELECT ON TABLE control.organizations TO tidemark_definer;
SELECT platform.unfence_for('control.organizations', 'tidemark_usage_worker');
GRANT SELECT (org_id, slug) ON TABLE control.organizations TO tidemark_usage, tidemark_usage_worker;

CREATE TABLE control.audit_events (
  org_id uuid NOT NULL,
  at timestamptz DEFAULT clock_timestamp() NOT NULL,
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  actor_type text NOT NULL,
  actor_id text NOT NULL,
  action text NOT NULL,
  target_type text NOT NULL,
  target_id text NOT NULL,
  request_id text NOT NULL,
  runs integer,
  from_project_id uuid,
  CONSTRAINT audit_events_pkey PRIMARY KEY (org_id, at, id),
  CONSTRAINT audit_events_org_id_fkey FOREIGN KEY (org_id) REFERENCES control.organizations(org_id),
  CONSTRAINT audit_events_actor_type_check CHECK (actor_type IN ('user', 'api_key', 'operator'))
);
COMMENT ON TABLE control.audit_events IS 'Written in the transaction that they describe. No secrets and no names.';
COMMENT ON COLUMN control.audit_events.at IS 'when the statement ran, so that events of one transaction have an order';
COMMENT ON COLUMN control.audit_events.actor_id IS 'of a user or of an API key; empty for operators';
COMMENT ON COLUMN control.audit_events.action IS 'noun.verb, such as api_key.created';
COMMENT ON COLUMN control.audit_events.target_id IS 'empty where the target has none that may be shown';
COMMENT ON COLUMN control.audit_events.request_id IS 'that of the answer';
COMMENT ON COLUMN control.audit_events.runs IS
  'of runs that were moved or copied together to the project that is the target: how many came from from_project_id';
SELECT platform.fence('control.audit_events');
SELECT platform.unfence_for('control.audit_events', 'tidemark_definer');
GRANT SELECT, INSERT ON TABLE control.audit_events TO tidemark_control;
GRANT SELECT, DELETE ON TABLE control.audit_events TO tidemark_definer;

CREATE TABLE control.invitations (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  email text NOT NULL,
  role text NOT NULL,
  status text DEFAULT 'pending' NOT NULL,
  credential_id text COLLATE "C" NOT NULL,
  hash bytea NOT NULL,
  invited_by_user_id uuid,
  created_at timestamptz DEFAULT now() NOT NULL,
  expires_at timestamptz NOT NULL,
  last_sent_at timestamptz NOT NULL,
  delivery_status text DEFAULT 'queued' NOT NULL,
  accepted_at timestamptz,
  accepted_by_user_id uuid,
  revoked_at timestamptz,
  CONSTRAINT invitations_pkey PRIMARY KEY (org_id, id),
  CONSTRAINT invitations_credential_id_key UNIQUE (credential_id),
  CONSTRAINT invitations_accepted_by_user_id_fkey FOREIGN KEY (accepted_by_user_id) REFERENCES control.users(id),
  CONSTRAINT invitations_invited_by_user_id_fkey FOREIGN KEY (invited_by_user_id) REFERENCES control.users(id),
  CONSTRAINT invitations_org_id_fkey FOREIGN KEY (org_id) REFERENCES control.organizations(org_id),
  CONSTRAINT invitations_delivery_status_check CHECK (delivery_status IN ('queued', 'sent', 'failed')),
  CONSTRAINT invitations_hash_check CHECK (octet_length(hash) = 32),
  CONSTRAINT invitations_role_check CHECK (role IN ('admin', 'member', 'viewer')),
  CONSTRAINT invitations_status_check CHECK (status IN ('pending', 'accepted', 'revoked', 'expired'))
);
CREATE INDEX invitations_by_end ON control.invitations (expires_at) WHERE status = 'pending';
CREATE INDEX invitations_ended ON control.invitations (COALESCE(accepted_at, revoked_at,
  expires_at)) WHERE status <> 'pending';
CREATE INDEX invitations_newest ON control.invitations (org_id, created_at DESC, id);
CREATE UNIQUE INDEX invitations_pending ON control.invitations (org_id, email) WHERE status = 'pending';
SELECT platform.fence('control.invitations');
SELECT platform.unfence_for('control.invitations', 'tidemark_control_worker');
SELECT platform.unfence_for('control.invitations', 'tidemark_definer');
GRANT SELECT, INSERT, UPDATE ON TABLE control.invitations TO tidemark_control;
GRANT SELECT, UPDATE (status), DELETE ON TABLE control.invitations TO tidemark_control_worker;
GRANT SELECT ON TABLE control.invitations TO tidemark_definer;

CREATE TABLE control.member_counts (
  org_id uuid NOT NULL,
  members bigint NOT NULL,
  active bigint NOT NULL,
  CONSTRAINT member_counts_pkey PRIMARY KEY (org_id),
  CONSTRAINT member_counts_org_id_fkey FOREIGN KEY (org_id) REFERENCES control.organizations(org_id),
  CONSTRAINT member_counts_check CHECK (active >= 0 AND members >= active)
);
COMMENT ON COLUMN control.member_counts.members IS
  'rows of memberships; kept, as active is, by triggers of memberships';
SELECT platform.fence('control.member_counts');
SELECT platform.unfence_for('control.member_counts', 'tidemark_definer');
GRANT SELECT, INSERT, UPDATE ON TABLE control.member_counts TO tidemark_control;
GRANT SELECT, UPDATE (members, active), DELETE ON TABLE control.member_counts TO tidemark_control_worker;
GRANT SELECT ON TABLE control.member_counts TO tidemark_definer;
GRANT SELECT (org_id, members) ON TABLE control.member_counts TO tidemark_usage;

CREATE TABLE control.memberships (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  user_id uuid NOT NULL,
  role text NOT NULL,
  status text NOT NULL,
  created_at timestamptz DEFAULT now() NOT NULL,
  CONSTRAINT memberships_pkey PRIMARY KEY (org_id, id),
  CONSTRAINT memberships_org_id_user_id_key UNIQUE (org_id, user_id),
  CONSTRAINT memberships_org_id_fkey FOREIGN KEY (org_id) REFERENCES control.organizations(org_id),
  CONSTRAINT memberships_user_id_fkey FOREIGN KEY (user_id) REFERENCES control.users(id),
  CONSTRAINT memberships_role_check CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
  CONSTRAINT memberships_status_check CHECK (status IN ('active', 'invited'))
);
CREATE INDEX memberships_by_age ON control.memberships (org_id, created_at, id);
CREATE INDEX memberships_of_user ON control.memberships (user_id, org_id);
SELECT platform.fence('control.memberships');
SELECT platform.unfence_for('control.memberships', 'tidemark_definer');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE control.memberships TO tidemark_control;
GRANT SELECT, DELETE ON TABLE control.memberships TO tidemark_control_worker;
GRANT SELECT ON TABLE control.memberships TO tidemark_definer;

CREATE TABLE control.service_accounts (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  created_by_user_id uuid,
  created_at timestamptz DEFAULT now() NOT NULL,
  disabled_at timestamptz,
  CONSTRAINT service_accounts_pkey PRIMARY KEY (org_id, id),
  CONSTRAINT service_accounts_created_by_user_id_fkey FOREIGN KEY (created_by_user_id) REFERENCES control.users(id),
  CONSTRAINT service_accounts_org_id_fkey FOREIGN KEY (org_id) REFERENCES control.organizations(org_id)
);
SELECT platform.fence('control.service_accounts');
GRANT SELECT, INSERT, UPDATE ON TABLE control.service_accounts TO tidemark_control;
GRANT SELECT, DELETE ON TABLE control.service_accounts TO tidemark_control_worker;

CREATE TABLE control.api_keys (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  service_account_id uuid NOT NULL,
  credential_id text COLLATE "C" NOT NULL,
  hash bytea NOT NULL,
  key_prefix text NOT NULL,
  name text NOT NULL,
  scopes text[] NOT NULL,
  project_id uuid,
  created_at timestamptz DEFAULT now() NOT NULL,
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  changed_xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
  CONSTRAINT api_keys_pkey PRIMARY KEY (org_id, id),
  CONSTRAINT api_keys_credential_id_key UNIQUE (credential_id),
  CONSTRAINT api_keys_org_id_service_account_id_fkey FOREIGN KEY (org_id,
    service_account_id) REFERENCES control.service_accounts(org_id, id),
  CONSTRAINT api_keys_hash_check CHECK (octet_length(hash) = 32),
  CONSTRAINT api_keys_scopes_check CHECK (cardinality(scopes) > 0)
);
CREATE INDEX api_keys_by_account ON control.api_keys (org_id, service_account_id);
CREATE INDEX api_keys_changed ON control.api_keys (changed_xid, credential_id);
CREATE INDEX api_keys_changed_live ON control.api_keys (changed_xid, credential_id) WHERE revoked_at IS NULL;
CREATE INDEX api_keys_newest ON control.api_keys (org_id, created_at DESC, id);
CREATE INDEX api_keys_not_revoked ON control.api_keys (org_id) INCLUDE (expires_at) WHERE revoked_at IS NULL;
SELECT platform.fence('control.api_keys');
SELECT platform.unfence_for('control.api_keys', 'tidemark_control_worker');
SELECT platform.unfence_for('control.api_keys', 'tidemark_definer');
GRANT SELECT, INSERT, UPDATE ON TABLE control.api_keys TO tidemark_control;
GRANT SELECT, UPDATE (changed_xid), DELETE ON TABLE control.api_keys TO tidemark_control_worker;
GRANT SELECT, UPDATE (last_used_at) ON TABLE control.api_keys TO tidemark_definer;
GRANT SELECT (org_id, expires_at, revoked_at) ON TABLE control.api_keys TO tidemark_usage;

CREATE TABLE control.sessions (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  user_id uuid,
  credential_id text COLLATE "C" NOT NULL,
  hash bytea NOT NULL,
  created_at timestamptz DEFAULT now() NOT NULL,
  last_seen_at timestamptz,
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz,
  changed_xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
  key_id text COLLATE "C",
  CONSTRAINT sessions_pkey PRIMARY KEY (org_id, id),
  CONSTRAINT sessions_credential_id_key UNIQUE (credential_id),
  CONSTRAINT sessions_key_id_fkey FOREIGN KEY (key_id) REFERENCES control.api_keys(credential_id),
  CONSTRAINT sessions_org_id_fkey FOREIGN KEY (org_id) REFERENCES control.organizations(org_id),
  CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES control.users(id),
  CONSTRAINT sessions_check CHECK ((user_id IS NULL) <> (key_id IS NULL)),
  CONSTRAINT sessions_hash_check CHECK (octet_length(hash) = 32)
);
COMMENT ON COLUMN control.sessions.key_id IS 'the key that it was created from, by the id in its text';
CREATE INDEX sessions_by_end ON control.sessions (LEAST(expires_at, revoked_at));
CREATE INDEX sessions_changed ON control.sessions (changed_xid, credential_id);
CREATE INDEX sessions_not_revoked ON control.sessions (org_id, user_id, created_at DESC, id) WHERE revoked_at IS NULL;
CREATE INDEX sessions_of_key ON control.sessions (org_id, key_id, created_at DESC,
  id) WHERE revoked_at IS NULL AND key_id IS NOT NULL;
CREATE INDEX sessions_of_member ON control.sessions (org_id, user_id, created_at);
SELECT platform.fence('control.sessions');
SELECT platform.unfence_for('control.sessions', 'tidemark_control_worker');
SELECT platform.unfence_for('control.sessions', 'tidemark_definer');
GRANT SELECT, INSERT, UPDATE ON TABLE control.sessions TO tidemark_control;
GRANT SELECT, UPDATE (changed_xid), DELETE ON TABLE control.sessions TO tidemark_control_worker;
GRANT SELECT, UPDATE (last_seen_at) ON TABLE control.sessions TO tidemark_definer;

CREATE FUNCTION control.count_added_members()
RETURNS trigger
LANGUAGE plpgsql
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  INSERT INTO control.member_counts AS c (org_id, members, active)
  SELECT a.org_id, count(*), count(*) FILTER (WHERE a.status = 'active') FROM added a GROUP BY a.org_id ORDER BY a.org_id
  ON CONFLICT (org_id) DO UPDATE SET members = c.members + excluded.members, active = c.active + excluded.active;
  RETURN NULL;
END
$function$;
COMMENT ON FUNCTION control.count_added_members IS
  'Adds new members to the counts of their organizations, once for each statement.';
REVOKE ALL ON FUNCTION control.count_added_members FROM PUBLIC;

CREATE TRIGGER memberships_count_added AFTER INSERT ON control.memberships
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION control.count_added_members();

CREATE FUNCTION control.count_changed_members()
RETURNS trigger
LANGUAGE plpgsql
SET search_path TO 'pg_catalog', 'pg_temp'
SET enable_seqscan TO 'off'
SET enable_hashjoin TO 'off'
SET enable_mergejoin TO 'off'
AS $function$
BEGIN
  UPDATE control.member_counts c SET active = c.active + d.active
  FROM (
    SELECT s.org_id, sum(s.active) AS active FROM (
      SELECT a.org_id, (a.status = 'active')::integer AS active FROM changed_to a
      UNION ALL
      SELECT b.org_id, -(b.status = 'active')::integer FROM changed_from b
    ) s
    GROUP BY s.org_id HAVING sum(s.active) <> 0
  ) d
  WHERE c.org_id = d.org_id;
  RETURN NULL;
END
$function$;
COMMENT ON FUNCTION control.count_changed_members IS
  'Brings the counts of organizations up to date with a change of their members, once for each statement.';
REVOKE ALL ON FUNCTION control.count_changed_members FROM PUBLIC;

CREATE TRIGGER memberships_count_changed AFTER UPDATE ON control.memberships
  REFERENCING OLD TABLE AS changed_from NEW TABLE AS changed_to FOR EACH STATEMENT EXECUTE FUNCTION control.count_changed_members();

CREATE FUNCTION control.count_removed_members()
RETURNS trigger
LANGUAGE plpgsql
SET search_path TO 'pg_catalog', 'pg_temp'
SET enable_seqscan TO 'off'
SET enable_hashjoin TO 'off'
SET enable_mergejoin TO 'off'
AS $function$
BEGIN
  UPDATE control.member_counts c SET members = c.members - r.members, active = c.active - r.active
  FROM (SELECT d.org_id, count(*) AS members, count(*) FILTER (WHERE d.status = 'active') AS active
        FROM removed d GROUP BY d.org_id) r
  WHERE c.org_id = r.org_id;
  RETURN NULL;
END
$function$;
COMMENT ON FUNCTION control.count_removed_members IS
  'Takes members who left off the counts of their organizations, once for each statement.';
REVOKE ALL ON FUNCTION control.count_removed_members FROM PUBLIC;

CREATE TRIGGER memberships_count_removed AFTER DELETE ON control.memberships
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION control.count_removed_members();

CREATE FUNCTION control.deleted_memberships_of(wanted_user uuid)
RETURNS TABLE(org_id uuid, name text, slug text, plan_tier text, account_type text, role text, status text,
  member_count integer, deleted_at timestamp with time zone, purge_after timestamp with time zone)
LANGUAGE plpgsql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET enable_seqscan TO 'off'
AS $function$
BEGIN
  RETURN QUERY
    SELECT o.org_id, o.name, o.slug, o.plan_tier, o.account_type, m.role, m.status, coalesce(c.active, 0)::integer,
           o.deleted_at, o.purge_after
    FROM control.memberships m
    CROSS JOIN LATERAL (SELECT * FROM control.organizations f
                        WHERE f.org_id = m.org_id AND f.deleted_at IS NOT NULL OFFSET 0) o
    LEFT JOIN LATERAL (SELECT f.active FROM control.member_counts f WHERE f.org_id = m.org_id OFFSET 0) c ON true
    WHERE m.user_id = wanted_user
    ORDER BY o.deleted_at DESC, m.org_id;
END
$function$;
COMMENT ON FUNCTION control.deleted_memberships_of IS 'Returns the deleted organizations of a user, the latest first.';
REVOKE ALL ON FUNCTION control.deleted_memberships_of FROM PUBLIC;
ALTER FUNCTION control.deleted_memberships_of OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION control.deleted_memberships_of TO tidemark_control;

CREATE FUNCTION control.find_credential(wanted_kind text, wanted_id text)
RETURNS TABLE(kind text, id text, row_id uuid, org_id uuid, hash bytea, scopes text[], project_id uuid, user_id uuid,
  role text, expires_at timestamp with time zone, revoked boolean, slug text, name text, plan_tier text,
  billing_state text, deleted boolean, key_id text)
LANGUAGE plpgsql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET enable_seqscan TO 'off'
AS $function$
BEGIN
  IF wanted_kind = 'api_key' THEN
    RETURN QUERY
      SELECT wanted_kind, k.credential_id, k.id, k.org_id, k.hash, k.scopes, k.project_id, NULL::uuid, NULL::text,
             k.expires_at, k.revoked_at IS NOT NULL, o.slug, o.name, o.plan_tier, o.billing_state,
             o.deleted_at IS NOT NULL, NULL::text
      FROM control.api_keys k
      CROSS JOIN LATERAL (SELECT * FROM control.organizations f WHERE f.org_id = k.org_id OFFSET 0) o
      WHERE k.credential_id = wanted_id;
  ELSIF wanted_kind = 'session' THEN
    RETURN QUERY
      SELECT wanted_kind, s.credential_id, s.id, s.org_id, s.hash, coalesce(k.scopes, '{}'::text[]), k.project_id, s.user_id, m.role,
             s.expires_at,
             s.revoked_at IS NOT NULL
               OR CASE WHEN s.key_id IS NULL THEN m.status IS DISTINCT FROM 'active' ELSE k.revoked_at IS NOT NULL END,
             o.slug, o.name, o.plan_tier, o.billing_state, o.deleted_at IS NOT NULL, s.key_id
      FROM control.sessions s
      LEFT JOIN LATERAL (SELECT * FROM control.memberships f
                         WHERE f.org_id = s.org_id AND f.user_id = s.user_id OFFSET 0) m ON true
      LEFT JOIN LATERAL (SELECT * FROM control.api_keys f WHERE f.credential_id = s.key_id OFFSET 0) k ON true
      CROSS JOIN LATERAL (SELECT * FROM control.organizations f WHERE f.org_id = s.org_id OFFSET 0) o
      WHERE s.credential_id = wanted_id;
  END IF;
END
$function$;
COMMENT ON FUNCTION control.find_credential IS
  'Returns what gateways know of one credential, and of the organization that it opens.';
REVOKE ALL ON FUNCTION control.find_credential FROM PUBLIC;
ALTER FUNCTION control.find_credential OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION control.find_credential TO tidemark_control;

CREATE FUNCTION control.find_invitation(wanted_id text)
RETURNS TABLE(org_id uuid, id uuid, hash bytea)
LANGUAGE sql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET enable_seqscan TO 'off'
AS $function$
  SELECT i.org_id, i.id, i.hash FROM control.invitations i WHERE i.credential_id = wanted_id
$function$;
COMMENT ON FUNCTION control.find_invitation IS 'Returns the organization and the invitation that a token''s id names.';
REVOKE ALL ON FUNCTION control.find_invitation FROM PUBLIC;
ALTER FUNCTION control.find_invitation OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION control.find_invitation TO tidemark_control;

CREATE FUNCTION control.is_deleted_v1(org uuid)
RETURNS boolean
LANGUAGE plpgsql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  RETURN EXISTS (SELECT FROM control.organizations o WHERE o.org_id = org AND o.deleted_at IS NOT NULL);
END
$function$;
COMMENT ON FUNCTION control.is_deleted_v1 IS
  'Whether an organization is deleted, for routes that are open to callers without credentials.';
REVOKE ALL ON FUNCTION control.is_deleted_v1 FROM PUBLIC;
ALTER FUNCTION control.is_deleted_v1 OWNER TO tidemark_definer;

CREATE FUNCTION control.list_organizations(page_size integer, page_start bigint)
RETURNS SETOF control.organizations
LANGUAGE sql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET enable_seqscan TO 'off'
SET enable_sort TO 'off'
AS $function$
  SELECT * FROM control.organizations WHERE deleted_at IS NULL ORDER BY created_at, org_id LIMIT page_size OFFSET page_start
$function$;
COMMENT ON FUNCTION control.list_organizations IS 'Returns organizations of all tenants, for operators.';
REVOKE ALL ON FUNCTION control.list_organizations FROM PUBLIC;
ALTER FUNCTION control.list_organizations OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION control.list_organizations TO tidemark_control;

CREATE FUNCTION control.memberships_of(wanted_user uuid)
RETURNS TABLE(org_id uuid, name text, slug text, plan_tier text, account_type text, role text, status text,
  member_count integer)
LANGUAGE plpgsql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET enable_seqscan TO 'off'
AS $function$
BEGIN
  RETURN QUERY
    SELECT o.org_id, o.name, o.slug, o.plan_tier, o.account_type, m.role, m.status, coalesce(c.active, 0)::integer
    FROM control.memberships m
    CROSS JOIN LATERAL (SELECT * FROM control.organizations f
                        WHERE f.org_id = m.org_id AND f.deleted_at IS NULL OFFSET 0) o
    LEFT JOIN LATERAL (SELECT f.active FROM control.member_counts f WHERE f.org_id = m.org_id OFFSET 0) c ON true
    CROSS JOIN LATERAL (SELECT max(f.created_at) AS last_in FROM control.sessions f
                        WHERE f.org_id = m.org_id AND f.user_id = m.user_id) s
    WHERE m.user_id = wanted_user
    ORDER BY s.last_in DESC NULLS LAST, m.created_at, m.org_id;
END
$function$;
COMMENT ON FUNCTION control.memberships_of IS
  'Returns the organizations of a user, the one that the user was last in first.';
REVOKE ALL ON FUNCTION control.memberships_of FROM PUBLIC;
ALTER FUNCTION control.memberships_of OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION control.memberships_of TO tidemark_control;

CREATE FUNCTION control.projection_page(from_xid xid8, after_kind text, after_id text, live_only boolean,
  page_size integer)
RETURNS TABLE(floor text, ceiling text, changed_xid text, kind text, id text, org_id uuid, hash bytea, scopes text[],
  project_id uuid, user_id uuid, role text, expires_at timestamp with time zone, revoked boolean, slug text, name text,
  plan_tier text, billing_state text, deleted boolean, key_id text)
LANGUAGE plpgsql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET enable_seqscan TO 'off'
SET enable_bitmapscan TO 'off'
SET enable_sort TO 'off'
AS $function$
DECLARE
  -- Where each kind continues among the rows of from_xid: in the given kind behind the given row, in a later kind
  -- before all rows, in an earlier kind behind all of them. A page begins there, and not at the first row of from_xid.
  reached text COLLATE "C" := after_kind;
  last_text text COLLATE "C" := chr(1114111);
  after_key text COLLATE "C" :=
    CASE WHEN reached < 'api_key' THEN '' WHEN reached = 'api_key' THEN after_id ELSE last_text END;
  after_organization uuid :=
    CASE WHEN reached < 'organization' THEN '00000000-0000-0000-0000-000000000000'
         WHEN reached = 'organization' THEN after_id ELSE 'ffffffff-ffff-ffff-ffff-ffffffffffff' END;
  after_session text COLLATE "C" :=
    CASE WHEN reached < 'session' THEN '' WHEN reached = 'session' THEN after_id ELSE last_text END;
BEGIN
  floor := pg_snapshot_xmin(pg_current_snapshot())::text;
  ceiling := pg_snapshot_xmax(pg_current_snapshot())::text;
  RETURN NEXT;
  RETURN QUERY
    SELECT NULL::text, NULL::text, p.xid::text, p.kind, p.id, p.org_id, p.hash, p.scopes, p.project_id, p.user_id, p.role,
           p.expires_at, p.revoked, p.slug, p.name, p.plan_tier, p.billing_state, p.deleted, p.key_id
    FROM (
      (SELECT k.changed_xid, 'api_key', k.credential_id, k.org_id, k.hash, k.scopes, k.project_id, NULL::uuid,
              NULL::text, k.expires_at, k.revoked_at IS NOT NULL, NULL::text, NULL::text, NULL::text, NULL::text,
              NULL::boolean, NULL::text
       FROM control.api_keys k
       WHERE NOT live_only AND (k.changed_xid, k.credential_id) > (from_xid, after_key)
       ORDER BY k.changed_xid, k.credential_id LIMIT page_size)
      UNION ALL
      (SELECT k.changed_xid, 'api_key', k.credential_id, k.org_id, k.hash, k.scopes, k.project_id, NULL::uuid,
              NULL::text, k.expires_at, k.revoked_at IS NOT NULL, NULL::text, NULL::text, NULL::text, NULL::text,
              NULL::boolean, NULL::text
       FROM control.api_keys k
       -- By an index of its own: in time most keys of an installation are revoked.
       WHERE live_only AND (k.changed_xid, k.credential_id) > (from_xid, after_key)
         AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
       ORDER BY k.changed_xid, k.credential_id LIMIT page_size)
      UNION ALL
      (SELECT o.changed_xid, 'organization', o.org_id::text COLLATE "C", o.org_id, NULL, NULL, NULL, NULL, NULL, NULL,
              NULL, o.slug, o.name, o.plan_tier, o.billing_state, o.deleted_at IS NOT NULL, NULL
       FROM control.organizations o
       WHERE (o.changed_xid, o.org_id) > (from_xid, after_organization) AND (NOT live_only OR o.deleted_at IS NULL)
       ORDER BY o.changed_xid, o.org_id LIMIT page_size)
      UNION ALL
      (SELECT s.changed_xid, 'session', s.credential_id, s.org_id, s.hash, coalesce(k.scopes, '{}'), k.project_id, s.user_id,
              m.role, s.expires_at, s.revoked_at IS NOT NULL OR NOT h.live, NULL, NULL, NULL, NULL, NULL, s.key_id
       FROM control.sessions s
       LEFT JOIN LATERAL (SELECT * FROM control.memberships f
                          WHERE f.org_id = s.org_id AND f.user_id = s.user_id OFFSET 0) m ON true
       LEFT JOIN LATERAL (SELECT * FROM control.api_keys f WHERE f.credential_id = s.key_id OFFSET 0) k ON true
       -- Whose session it is: a member, or a key.
       CROSS JOIN LATERAL (SELECT CASE WHEN s.key_id IS NULL THEN m.status IS NOT DISTINCT FROM 'active'
                                       ELSE k.revoked_at IS NULL END AS live) h
       WHERE (s.changed_xid, s.credential_id) > (from_xid, after_session)
         AND (NOT live_only OR (s.revoked_at IS NULL AND h.live AND s.expires_at > now()))
       ORDER BY s.changed_xid, s.credential_id LIMIT page_size)
      ORDER BY 1, 2, 3 LIMIT page_size
    ) p (xid, kind, id, org_id, hash, scopes, project_id, user_id, role, expires_at, revoked, slug, name, plan_tier,
         billing_state, deleted, key_id)
    ORDER BY p.xid, p.kind, p.id;
END
$function$;
COMMENT ON FUNCTION control.projection_page IS
  'Returns a page of rows that transaction from_xid or a later one changed, in the order (changed_xid, kind, id), '
  'behind the given position. The first row has floor and ceiling alone: the oldest transaction that was open in '
  'this snapshot, and the next one. A row that is not visible yet will carry floor or more. Sessions of a key have '
  'its rights.';
REVOKE ALL ON FUNCTION control.projection_page FROM PUBLIC;
ALTER FUNCTION control.projection_page OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION control.projection_page TO tidemark_control;

CREATE FUNCTION control.promised_seats(org uuid)
RETURNS bigint
LANGUAGE sql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET enable_seqscan TO 'off'
AS $function$
  SELECT count(*) FROM control.invitations i
  WHERE i.org_id = org AND org = platform.org_id() AND i.status = 'pending' AND i.expires_at > now()
    AND NOT EXISTS (SELECT FROM control.users u
                    CROSS JOIN LATERAL (SELECT FROM control.memberships f
                                        WHERE f.org_id = org AND f.user_id = u.id OFFSET 0) m
                    WHERE u.email = i.email OFFSET 0)
$function$;
COMMENT ON FUNCTION control.promised_seats IS
  'How many seats of the organization of this transaction are promised to people who are invited and are no '
  'members.';
REVOKE ALL ON FUNCTION control.promised_seats FROM PUBLIC;
ALTER FUNCTION control.promised_seats OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION control.promised_seats TO tidemark_usage;

CREATE VIEW control.organization_refs_v1 WITH (security_invoker = true) AS
  SELECT o.org_id, o.slug FROM control.organizations o;
COMMENT ON VIEW control.organization_refs_v1 IS 'Every organization, deleted ones included, for recounts.';
GRANT SELECT ON TABLE control.organization_refs_v1 TO tidemark_usage_worker;

CREATE VIEW control.usage_v1 WITH (security_invoker = true) AS
  SELECT o.org_id, o.slug,
         coalesce((SELECT c.members FROM control.member_counts c WHERE c.org_id = o.org_id OFFSET 0), 0)
           + control.promised_seats(o.org_id) AS seats,
         (SELECT count(*) FROM control.api_keys k
          WHERE k.org_id = o.org_id AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())) AS keys
  FROM control.organizations o;
COMMENT ON VIEW control.usage_v1 IS
  'The name of an organization, its seats (members and people whose invitations are open) and the keys that work.';
GRANT SELECT ON TABLE control.usage_v1 TO tidemark_usage;

CREATE FUNCTION control.live_sessions_of(wanted_user uuid, at timestamp with time zone)
RETURNS TABLE(org_id uuid, id uuid, user_id uuid, credential_id text, created_at timestamp with time zone,
  last_seen_at timestamp with time zone, expires_at timestamp with time zone, organization_name text)
LANGUAGE plpgsql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET enable_seqscan TO 'off'
AS $function$
BEGIN
  RETURN QUERY
    SELECT s.org_id, s.id, s.user_id, s.credential_id, s.created_at, s.last_seen_at, s.expires_at, o.name
    FROM control.memberships m
    CROSS JOIN LATERAL (SELECT f.name FROM control.organizations f WHERE f.org_id = m.org_id OFFSET 0) o
    CROSS JOIN LATERAL (SELECT * FROM control.sessions f
                        WHERE f.org_id = m.org_id AND f.user_id = wanted_user AND f.revoked_at IS NULL
                          AND f.expires_at > at
                        OFFSET 0) s
    WHERE m.user_id = wanted_user
    ORDER BY s.created_at DESC, s.id;
END
$function$;
COMMENT ON FUNCTION control.live_sessions_of IS 'Returns the sessions of a user that work, in all organizations, newest first.';
REVOKE ALL ON FUNCTION control.live_sessions_of FROM PUBLIC;
ALTER FUNCTION control.live_sessions_of OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION control.live_sessions_of TO tidemark_control;

CREATE FUNCTION control.lock_caller_v1(org uuid, caller_type text, credential text)
RETURNS TABLE(role text, scopes text[], project_id uuid)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  IF caller_type = 'api_key' THEN
    RETURN QUERY SELECT ''::text, k.scopes, k.project_id FROM control.api_keys k
      WHERE k.org_id = org AND k.credential_id = credential AND k.revoked_at IS NULL
        AND (k.expires_at IS NULL OR k.expires_at > now())
      FOR SHARE;
  ELSE
    RETURN QUERY SELECT m.role, '{}'::text[], NULL::uuid
      FROM control.sessions s JOIN control.memberships m ON m.org_id = s.org_id AND m.user_id = s.user_id
      WHERE s.org_id = org AND s.credential_id = credential AND s.revoked_at IS NULL AND s.expires_at > now()
        AND m.status = 'active'
      FOR SHARE;
  END IF;
END
$function$;
COMMENT ON FUNCTION control.lock_caller_v1 IS
  'What the credential of a caller opens now, of the organization of the transaction; nothing for one that has ended. '
  'Until the transaction ends it stays so. caller_type is session or api_key.';
REVOKE ALL ON FUNCTION control.lock_caller_v1 FROM PUBLIC;
ALTER FUNCTION control.lock_caller_v1 OWNER TO tidemark_control;
GRANT EXECUTE ON FUNCTION control.lock_caller_v1 TO tidemark_reports;

CREATE FUNCTION control.record_audit_v1(org uuid, caller_type text, caller_id text, done text, target text,
  target_id text, request text, run_count integer DEFAULT NULL, from_project uuid DEFAULT NULL)
RETURNS void
LANGUAGE sql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  INSERT INTO control.audit_events (org_id, actor_type, actor_id, action, target_type, target_id, request_id, runs,
                                    from_project_id)
  SELECT o.org_id, caller_type,
         CASE WHEN caller_type = 'api_key'
              THEN coalesce((SELECT k.id::text FROM control.api_keys k
                             WHERE k.org_id = o.org_id AND k.credential_id = caller_id), '')
              ELSE caller_id END,
         done, target, target_id, request, run_count, from_project
  FROM control.organizations o WHERE o.org_id = org;
$function$;
COMMENT ON FUNCTION control.record_audit_v1 IS
  'Adds an event to the audit log of an organization, which must be that of the transaction. caller_type is user, '
  'api_key or operator; a key is named by the id in its text.';
REVOKE ALL ON FUNCTION control.record_audit_v1 FROM PUBLIC;
ALTER FUNCTION control.record_audit_v1 OWNER TO tidemark_control;
GRANT EXECUTE ON FUNCTION control.record_audit_v1 TO tidemark_reports, tidemark_runs;

CREATE FUNCTION control.record_use(used_kind text[], used_id text[], used_at timestamp with time zone[])
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET enable_seqscan TO 'off'
SET enable_hashjoin TO 'off'
SET enable_mergejoin TO 'off'
AS $function$
BEGIN
  WITH used AS (SELECT * FROM unnest(used_kind, used_id, used_at) u (kind, id, at)),
  keys AS (
    UPDATE control.api_keys k SET last_used_at = u.at
    FROM used u WHERE u.kind = 'api_key' AND k.credential_id = u.id AND (k.last_used_at IS NULL OR k.last_used_at < u.at)
  ),
  seen AS (
    UPDATE control.sessions s SET last_seen_at = u.at
    FROM used u WHERE u.kind = 'session' AND s.credential_id = u.id AND (s.last_seen_at IS NULL OR s.last_seen_at < u.at)
    RETURNING s.user_id, u.at
  ),
  newest AS (SELECT n.user_id, max(n.at) AS at FROM seen n GROUP BY n.user_id)
  UPDATE control.users p SET last_seen_at = n.at
  FROM newest n WHERE p.id = n.user_id AND (p.last_seen_at IS NULL OR p.last_seen_at < n.at);
END
$function$;
COMMENT ON FUNCTION control.record_use IS
  'Records when credentials were last used; an older report never overwrites a newer one.';
REVOKE ALL ON FUNCTION control.record_use FROM PUBLIC;
ALTER FUNCTION control.record_use OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION control.record_use TO tidemark_control;

CREATE FUNCTION control.remove_audit_events(org uuid, rows_max bigint)
RETURNS bigint
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  gone bigint;
BEGIN
  DELETE FROM control.audit_events e WHERE e.ctid = ANY (ARRAY(
    SELECT a.ctid FROM control.audit_events a
    WHERE a.org_id = org AND EXISTS (SELECT FROM control.organizations o WHERE o.org_id = org AND o.purge_after = '-infinity')
    LIMIT rows_max));
  GET DIAGNOSTICS gone = ROW_COUNT;
  RETURN gone;
END
$function$;
COMMENT ON FUNCTION control.remove_audit_events IS
  'Removes at most rows_max events of an organization whose removal has begun. Returns how many.';
REVOKE ALL ON FUNCTION control.remove_audit_events FROM PUBLIC;
ALTER FUNCTION control.remove_audit_events OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION control.remove_audit_events TO tidemark_control_worker;

CREATE FUNCTION control.slug_taken(wanted text)
RETURNS boolean
LANGUAGE sql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET enable_seqscan TO 'off'
AS $function$
  SELECT EXISTS (SELECT FROM control.organizations o WHERE o.slug = wanted)
$function$;
COMMENT ON FUNCTION control.slug_taken IS 'Returns whether any organization has the short name.';
REVOKE ALL ON FUNCTION control.slug_taken FROM PUBLIC;
ALTER FUNCTION control.slug_taken OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION control.slug_taken TO tidemark_control;

REVOKE CREATE ON SCHEMA control FROM tidemark_control, tidemark_definer;

-- People leave organizations. Their sessions stay for a day after they have ended, so that gateways learn of that: a session
-- without a member is one that has ended.
ALTER TABLE control.sessions DROP CONSTRAINT sessions_org_id_user_id_fkey;
ALTER TABLE control.sessions
  ADD CONSTRAINT sessions_org_id_fkey FOREIGN KEY (org_id) REFERENCES control.organizations (org_id),
  ADD CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES control.users (id);
GRANT DELETE ON control.memberships TO tidemark_control;

CREATE OR REPLACE FUNCTION control.find_credential(wanted_kind text, wanted_id text)
RETURNS TABLE(kind text, id text, row_id uuid, org_id uuid, hash bytea, scopes text[], project_id uuid, user_id uuid,
  role text, expires_at timestamp with time zone, revoked boolean, slug text, name text, plan_tier text,
  billing_state text, deleted boolean)
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
             o.deleted_at IS NOT NULL
      FROM control.api_keys k
      CROSS JOIN LATERAL (SELECT * FROM control.organizations f WHERE f.org_id = k.org_id OFFSET 0) o
      WHERE k.credential_id = wanted_id;
  ELSIF wanted_kind = 'session' THEN
    RETURN QUERY
      SELECT wanted_kind, s.credential_id, s.id, s.org_id, s.hash, '{}'::text[], NULL::uuid, s.user_id, m.role,
             s.expires_at, s.revoked_at IS NOT NULL OR m.status IS DISTINCT FROM 'active', o.slug, o.name, o.plan_tier,
             o.billing_state, o.deleted_at IS NOT NULL
      FROM control.sessions s
      LEFT JOIN LATERAL (SELECT * FROM control.memberships f
                         WHERE f.org_id = s.org_id AND f.user_id = s.user_id OFFSET 0) m ON true
      CROSS JOIN LATERAL (SELECT * FROM control.organizations f WHERE f.org_id = s.org_id OFFSET 0) o
      WHERE s.credential_id = wanted_id;
  END IF;
END
$function$;

CREATE OR REPLACE FUNCTION control.projection_page(from_xid xid8, after_kind text, after_id text, live_only boolean,
  page_size integer)
RETURNS TABLE(floor text, ceiling text, changed_xid text, kind text, id text, org_id uuid, hash bytea, scopes text[],
  project_id uuid, user_id uuid, role text, expires_at timestamp with time zone, revoked boolean, slug text, name text,
  plan_tier text, billing_state text, deleted boolean)
LANGUAGE plpgsql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET enable_seqscan TO 'off'
SET enable_bitmapscan TO 'off'
SET enable_sort TO 'off'
AS $function$
DECLARE
  -- Where each kind goes on among the rows of from_xid: in the given kind behind the given row, in a kind that comes later
  -- before all rows, in one that came before behind all of them. A page begins there, and not at the first row of from_xid.
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
           p.expires_at, p.revoked, p.slug, p.name, p.plan_tier, p.billing_state, p.deleted
    FROM (
      (SELECT k.changed_xid, 'api_key', k.credential_id, k.org_id, k.hash, k.scopes, k.project_id, NULL::uuid,
              NULL::text, k.expires_at, k.revoked_at IS NOT NULL, NULL::text, NULL::text, NULL::text, NULL::text,
              NULL::boolean
       FROM control.api_keys k
       WHERE (k.changed_xid, k.credential_id) > (from_xid, after_key)
         AND (NOT live_only OR (k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())))
       ORDER BY k.changed_xid, k.credential_id LIMIT page_size)
      UNION ALL
      (SELECT o.changed_xid, 'organization', o.org_id::text COLLATE "C", o.org_id, NULL, NULL, NULL, NULL, NULL, NULL,
              NULL, o.slug, o.name, o.plan_tier, o.billing_state, o.deleted_at IS NOT NULL
       FROM control.organizations o
       WHERE (o.changed_xid, o.org_id) > (from_xid, after_organization) AND (NOT live_only OR o.deleted_at IS NULL)
       ORDER BY o.changed_xid, o.org_id LIMIT page_size)
      UNION ALL
      (SELECT s.changed_xid, 'session', s.credential_id, s.org_id, s.hash, '{}', NULL, s.user_id, m.role, s.expires_at,
              s.revoked_at IS NOT NULL OR m.status IS DISTINCT FROM 'active', NULL, NULL, NULL, NULL, NULL
       FROM control.sessions s
       LEFT JOIN LATERAL (SELECT * FROM control.memberships f
                          WHERE f.org_id = s.org_id AND f.user_id = s.user_id OFFSET 0) m ON true
       WHERE (s.changed_xid, s.credential_id) > (from_xid, after_session)
         AND (NOT live_only OR (s.revoked_at IS NULL AND m.status = 'active' AND s.expires_at > now()))
       ORDER BY s.changed_xid, s.credential_id LIMIT page_size)
      ORDER BY 1, 2, 3 LIMIT page_size
    ) p (xid, kind, id, org_id, hash, scopes, project_id, user_id, role, expires_at, revoked, slug, name, plan_tier,
         billing_state, deleted)
    ORDER BY p.xid, p.kind, p.id;
END
$function$;

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

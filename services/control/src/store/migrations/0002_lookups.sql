-- Look-ups that cross organizations. Each returns what one named thing is, or what an operator or a
-- gateway is entitled to; the service role itself sees no row outside the organization of its transaction.
GRANT SELECT ON control.organizations, control.memberships, control.api_keys, control.sessions, control.invitations
  TO tidemark_definer;
GRANT UPDATE (last_used_at) ON control.api_keys TO tidemark_definer;
GRANT UPDATE (last_seen_at) ON control.sessions TO tidemark_definer;
GRANT SELECT, UPDATE (last_seen_at) ON control.users TO tidemark_definer;
SELECT platform.unfence_for(t, 'tidemark_definer')
FROM unnest(ARRAY['control.organizations', 'control.memberships', 'control.api_keys', 'control.sessions',
                  'control.invitations']::regclass[]) t;

-- What gateways know of one credential, and of the organization it opens.
CREATE FUNCTION control.find_credential(wanted_kind text, wanted_id text)
  RETURNS TABLE (kind text, id text, row_id uuid, org_id uuid, hash bytea, scopes text[], project_id uuid, user_id uuid,
                 role text, expires_at timestamptz, revoked boolean,
                 slug text, name text, plan_tier text, billing_state text, deleted boolean)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
  SELECT c.*, o.slug, o.name, o.plan_tier, o.billing_state, o.deleted_at IS NOT NULL
  FROM (
    SELECT 'api_key', k.credential_id, k.id, k.org_id, k.hash, k.scopes, k.project_id, NULL::uuid,
           NULL::text, k.expires_at, k.revoked_at IS NOT NULL
    FROM control.api_keys k WHERE wanted_kind = 'api_key' AND k.credential_id = wanted_id
    UNION ALL
    SELECT 'session', s.credential_id, s.id, s.org_id, s.hash, '{}', NULL, s.user_id,
           m.role, s.expires_at, s.revoked_at IS NOT NULL OR m.status <> 'active'
    FROM control.sessions s JOIN control.memberships m USING (org_id, user_id)
    WHERE wanted_kind = 'session' AND s.credential_id = wanted_id
  ) c (kind, id, row_id, org_id, hash, scopes, project_id, user_id, role, expires_at, revoked)
  JOIN control.organizations o USING (org_id)
$$;

-- A page of rows changed by transaction from_xid or a later one, in the order (changed_xid, kind, id),
-- after the given place. `floor` is the oldest transaction that was open in this very snapshot: whatever is not visible
-- here will carry floor or more. The one row that always comes tells floor and ceiling even when there is nothing else.
CREATE FUNCTION control.projection_page(from_xid xid8, after_kind text, after_id text, live_only boolean, page_size integer)
  RETURNS TABLE (floor text, ceiling text, changed_xid text, kind text, id text, org_id uuid, hash bytea, scopes text[],
                 project_id uuid, user_id uuid, role text, expires_at timestamptz, revoked boolean,
                 slug text, name text, plan_tier text, billing_state text, deleted boolean)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
  SELECT pg_snapshot_xmin(pg_current_snapshot())::text, pg_snapshot_xmax(pg_current_snapshot())::text,
         p.changed_xid::text, p.kind, p.id, p.org_id, p.hash, p.scopes, p.project_id, p.user_id, p.role, p.expires_at,
         p.revoked, p.slug, p.name, p.plan_tier, p.billing_state, p.deleted
  FROM (SELECT) always
  LEFT JOIN LATERAL (
    (SELECT k.changed_xid, 'api_key' AS kind, k.credential_id AS id, k.org_id, k.hash, k.scopes, k.project_id,
            NULL::uuid AS user_id, NULL::text AS role, k.expires_at, k.revoked_at IS NOT NULL AS revoked,
            NULL::text AS slug, NULL::text AS name, NULL::text AS plan_tier, NULL::text AS billing_state,
            NULL::boolean AS deleted
     FROM control.api_keys k
     WHERE k.changed_xid >= from_xid
       AND (k.changed_xid > from_xid OR ('api_key', k.credential_id) > (after_kind COLLATE "C", after_id COLLATE "C"))
       AND (NOT live_only OR (k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())))
     ORDER BY k.changed_xid, k.credential_id LIMIT page_size)
    UNION ALL
    (SELECT o.changed_xid, 'organization', o.org_id::text COLLATE "C", o.org_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
            o.slug, o.name, o.plan_tier, o.billing_state, o.deleted_at IS NOT NULL
     FROM control.organizations o
     WHERE o.changed_xid >= from_xid
       AND (o.changed_xid > from_xid OR ('organization', o.org_id::text) > (after_kind COLLATE "C", after_id COLLATE "C"))
       AND (NOT live_only OR o.deleted_at IS NULL)
     ORDER BY o.changed_xid, o.org_id LIMIT page_size)
    UNION ALL
    (SELECT s.changed_xid, 'session', s.credential_id, s.org_id, s.hash, '{}', NULL, s.user_id, m.role, s.expires_at,
            s.revoked_at IS NOT NULL OR m.status <> 'active', NULL, NULL, NULL, NULL, NULL
     FROM control.sessions s JOIN control.memberships m USING (org_id, user_id)
     WHERE s.changed_xid >= from_xid
       AND (s.changed_xid > from_xid OR ('session', s.credential_id) > (after_kind COLLATE "C", after_id COLLATE "C"))
       AND (NOT live_only OR (s.revoked_at IS NULL AND m.status = 'active' AND s.expires_at > now()))
     ORDER BY s.changed_xid, s.credential_id LIMIT page_size)
    ORDER BY changed_xid, kind, id LIMIT page_size
  ) p ON true
  ORDER BY p.changed_xid, p.kind, p.id
$$;

-- When credentials were last used; an older report never overwrites a newer one.
CREATE FUNCTION control.record_use(used_kind text[], used_id text[], used_at timestamptz[]) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $$
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
  newest AS (SELECT user_id, max(at) AS at FROM seen GROUP BY user_id)
  UPDATE control.users p SET last_seen_at = n.at
  FROM newest n WHERE p.id = n.user_id AND (p.last_seen_at IS NULL OR p.last_seen_at < n.at)
$$;

-- A user's organizations, the one they were in last first.
CREATE FUNCTION control.memberships_of(wanted_user uuid)
  RETURNS TABLE (org_id uuid, name text, slug text, plan_tier text, account_type text, role text, status text,
                 member_count integer)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
  SELECT o.org_id, o.name, o.slug, o.plan_tier, o.account_type, m.role, m.status,
         (SELECT count(*)::integer FROM control.memberships c WHERE c.org_id = o.org_id AND c.status = 'active')
  FROM control.memberships m JOIN control.organizations o USING (org_id)
  WHERE m.user_id = wanted_user AND o.deleted_at IS NULL
  ORDER BY (SELECT max(s.created_at) FROM control.sessions s WHERE s.org_id = m.org_id AND s.user_id = m.user_id) DESC NULLS LAST,
           m.created_at, m.org_id
$$;

CREATE FUNCTION control.slug_taken(wanted text) RETURNS boolean
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
  SELECT EXISTS (SELECT FROM control.organizations o WHERE o.slug = wanted)
$$;

CREATE FUNCTION control.find_invitation(wanted_id text) RETURNS TABLE (org_id uuid, id uuid, hash bytea)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
  SELECT i.org_id, i.id, i.hash FROM control.invitations i WHERE i.credential_id = wanted_id
$$;

-- For operators.
CREATE FUNCTION control.list_organizations(page_size integer, page_start bigint) RETURNS SETOF control.organizations
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
  SELECT * FROM control.organizations WHERE deleted_at IS NULL ORDER BY created_at, org_id LIMIT page_size OFFSET page_start
$$;

-- A function goes to a role that may create in its schema; the right is needed for this moment only.
GRANT CREATE ON SCHEMA control TO tidemark_definer;
DO $$
DECLARE
  name regprocedure;
BEGIN
  FOR name IN SELECT p.oid FROM pg_proc p WHERE p.pronamespace = 'control'::regnamespace LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', name);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidemark_control', name);
    EXECUTE format('ALTER FUNCTION %s OWNER TO tidemark_definer', name);
  END LOOP;
END
$$;
REVOKE CREATE ON SCHEMA control FROM tidemark_definer;

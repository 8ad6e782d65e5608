-- A gateway that starts reads the keys that are not revoked, and passes over no others.
CREATE INDEX api_keys_changed_live ON control.api_keys (changed_xid, credential_id) WHERE revoked_at IS NULL;
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
       WHERE NOT live_only AND (k.changed_xid, k.credential_id) > (from_xid, after_key)
       ORDER BY k.changed_xid, k.credential_id LIMIT page_size)
      UNION ALL
      (SELECT k.changed_xid, 'api_key', k.credential_id, k.org_id, k.hash, k.scopes, k.project_id, NULL::uuid,
              NULL::text, k.expires_at, k.revoked_at IS NOT NULL, NULL::text, NULL::text, NULL::text, NULL::text,
              NULL::boolean
       FROM control.api_keys k
       -- By an index of its own: in time most keys of an installation are revoked.
       WHERE live_only AND (k.changed_xid, k.credential_id) > (from_xid, after_key)
         AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
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

-- A member has a bounded number of sessions: the oldest end.
CREATE INDEX sessions_not_revoked ON control.sessions (org_id, user_id, created_at DESC, id) WHERE revoked_at IS NULL;

-- Invitations that ended are removed after some time.
CREATE INDEX invitations_ended ON control.invitations (coalesce(accepted_at, revoked_at, expires_at)) WHERE status <> 'pending';

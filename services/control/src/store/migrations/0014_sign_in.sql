-- A session may be that of an API key instead of a member's: it has the key's rights and ends with the key.
ALTER TABLE control.sessions
  ALTER COLUMN user_id DROP NOT NULL,
  ADD COLUMN key_id text COLLATE "C" REFERENCES control.api_keys (credential_id),
  ADD CHECK ((user_id IS NULL) <> (key_id IS NULL));
COMMENT ON COLUMN control.sessions.key_id IS 'the key that it was made from, by the id in its text';
CREATE INDEX sessions_of_key ON control.sessions (org_id, key_id, created_at DESC, id) WHERE revoked_at IS NULL AND key_id IS NOT NULL;

-- Tokens that open one session, which a start on somebody's own machine prints. A row is deleted when its token is used.
CREATE TABLE control.one_time_tokens (
  credential_id text COLLATE "C" NOT NULL PRIMARY KEY,
  hash bytea NOT NULL CHECK (octet_length(hash) = 32),
  org_id uuid NOT NULL,
  user_id uuid NOT NULL,
  expires_at timestamptz NOT NULL
);
COMMENT ON TABLE control.one_time_tokens IS 'Tokens that open one session of a member.';
GRANT SELECT, INSERT, DELETE ON control.one_time_tokens TO tidemark_control;
GRANT SELECT, DELETE ON control.one_time_tokens TO tidemark_control_worker;

DROP FUNCTION control.projection_page;
DROP FUNCTION control.find_credential;
GRANT CREATE ON SCHEMA control TO tidemark_definer;
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
REVOKE ALL ON FUNCTION control.projection_page FROM PUBLIC;
ALTER FUNCTION control.projection_page OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION control.projection_page TO tidemark_control;
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
REVOKE ALL ON FUNCTION control.find_credential FROM PUBLIC;
ALTER FUNCTION control.find_credential OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION control.find_credential TO tidemark_control;
REVOKE CREATE ON SCHEMA control FROM tidemark_definer;
COMMENT ON FUNCTION control.projection_page IS
  'Returns a page of rows that transaction from_xid or a later one changed, in the order (changed_xid, kind, id), '
  'behind the given position. The first row has floor and ceiling alone: the oldest transaction that was open in this '
  'snapshot, and the next one. A row that is not visible yet will carry floor or more. Sessions of a key have its rights.';
COMMENT ON FUNCTION control.find_credential IS
  'Returns what gateways know of one credential, and of the organization that it opens.';

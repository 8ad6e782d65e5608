-- Lists and look-ups read what they return, whatever the size of an organization and whatever the statistics say of the
-- average one.

-- Lists are walks of these. The order of the first two was another one, so that equal instants had to be sorted.
CREATE INDEX api_keys_newest ON control.api_keys (org_id, created_at DESC, id);
CREATE INDEX invitations_newest ON control.invitations (org_id, created_at DESC, id);
CREATE INDEX memberships_by_age ON control.memberships (org_id, created_at, id);
DROP INDEX control.api_keys_by_age, control.invitations_by_age;

-- A look-up of one membership that chooses this one finds one row, also for a user of thousands of organizations.
DROP INDEX control.memberships_of_user;
CREATE INDEX memberships_of_user ON control.memberships (user_id, org_id);

-- How many members an organization has, for lists of organizations and for its seats. Not in the row of the organization,
-- which is locked before those of its members; this one is changed after them.
CREATE TABLE control.member_counts (
  org_id uuid PRIMARY KEY REFERENCES control.organizations,
  members bigint NOT NULL,
  active bigint NOT NULL,
  CHECK (active >= 0 AND members >= active)
);
COMMENT ON COLUMN control.member_counts.members IS 'rows of memberships; kept, as active is, by triggers of memberships';

CREATE FUNCTION control.count_added_members() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  INSERT INTO control.member_counts AS c (org_id, members, active)
  SELECT a.org_id, count(*), count(*) FILTER (WHERE a.status = 'active') FROM added a GROUP BY a.org_id ORDER BY a.org_id
  ON CONFLICT (org_id) DO UPDATE SET members = c.members + excluded.members, active = c.active + excluded.active;
  RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION control.count_added_members FROM PUBLIC;
COMMENT ON FUNCTION control.count_added_members IS
  'Adds new members to the counts of their organizations, once for each statement.';

CREATE FUNCTION control.count_changed_members() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog SET enable_seqscan = off SET enable_hashjoin = off
  SET enable_mergejoin = off AS $$
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
$$;
REVOKE ALL ON FUNCTION control.count_changed_members FROM PUBLIC;
COMMENT ON FUNCTION control.count_changed_members IS
  'Brings the counts of organizations up to date with a change of their members, once for each statement.';

-- They lock the table against writers until its members are counted.
CREATE TRIGGER memberships_count_added AFTER INSERT ON control.memberships
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION control.count_added_members();
CREATE TRIGGER memberships_count_changed AFTER UPDATE ON control.memberships
  REFERENCING OLD TABLE AS changed_from NEW TABLE AS changed_to
  FOR EACH STATEMENT EXECUTE FUNCTION control.count_changed_members();

ALTER TABLE control.memberships NO FORCE ROW LEVEL SECURITY;
INSERT INTO control.member_counts (org_id, members, active)
SELECT org_id, count(*), count(*) FILTER (WHERE status = 'active') FROM control.memberships GROUP BY org_id;
ALTER TABLE control.memberships FORCE ROW LEVEL SECURITY;

SELECT platform.fence('control.member_counts');
SELECT platform.unfence_for('control.member_counts', 'tidemark_definer');
GRANT SELECT, INSERT, UPDATE ON control.member_counts TO tidemark_control;
GRANT SELECT ON control.member_counts TO tidemark_definer;

-- The functions below are looked into by one key, or are walks of an index. They say so themselves: their plans are
-- kept, and the tables may have been small when they were made. OFFSET 0 keeps a look-up from becoming a join.

CREATE OR REPLACE FUNCTION control.find_credential(wanted_kind text, wanted_id text)
  RETURNS TABLE (kind text, id text, row_id uuid, org_id uuid, hash bytea, scopes text[], project_id uuid, user_id uuid,
                 role text, expires_at timestamptz, revoked boolean,
                 slug text, name text, plan_tier text, billing_state text, deleted boolean)
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog SET enable_seqscan = off AS $$
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
             s.expires_at, s.revoked_at IS NOT NULL OR m.status <> 'active', o.slug, o.name, o.plan_tier,
             o.billing_state, o.deleted_at IS NOT NULL
      FROM control.sessions s
      CROSS JOIN LATERAL (SELECT * FROM control.memberships f
                          WHERE f.org_id = s.org_id AND f.user_id = s.user_id OFFSET 0) m
      CROSS JOIN LATERAL (SELECT * FROM control.organizations f WHERE f.org_id = s.org_id OFFSET 0) o
      WHERE s.credential_id = wanted_id;
  END IF;
END
$$;

CREATE OR REPLACE FUNCTION control.memberships_of(wanted_user uuid)
  RETURNS TABLE (org_id uuid, name text, slug text, plan_tier text, account_type text, role text, status text,
                 member_count integer)
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog SET enable_seqscan = off AS $$
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
$$;

CREATE OR REPLACE FUNCTION control.projection_page(
  from_xid xid8, after_kind text, after_id text, live_only boolean, page_size integer)
  RETURNS TABLE (floor text, ceiling text, changed_xid text, kind text, id text, org_id uuid, hash bytea, scopes text[],
                 project_id uuid, user_id uuid, role text, expires_at timestamptz, revoked boolean,
                 slug text, name text, plan_tier text, billing_state text, deleted boolean)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
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
              s.revoked_at IS NOT NULL OR m.status <> 'active', NULL, NULL, NULL, NULL, NULL
       FROM control.sessions s
       CROSS JOIN LATERAL (SELECT * FROM control.memberships f
                           WHERE f.org_id = s.org_id AND f.user_id = s.user_id OFFSET 0) m
       WHERE (s.changed_xid, s.credential_id) > (from_xid, after_session)
         AND (NOT live_only OR (s.revoked_at IS NULL AND m.status = 'active' AND s.expires_at > now()))
       ORDER BY s.changed_xid, s.credential_id LIMIT page_size)
      ORDER BY 1, 2, 3 LIMIT page_size
    ) p (xid, kind, id, org_id, hash, scopes, project_id, user_id, role, expires_at, revoked, slug, name, plan_tier,
         billing_state, deleted)
    ORDER BY p.xid, p.kind, p.id;
END
$$;
COMMENT ON FUNCTION control.projection_page IS
  'Returns a page of rows that transaction from_xid or a later one changed, in the order (changed_xid, kind, id), '
  'behind the given position. The first row has floor and ceiling alone: the oldest transaction that was open in this '
  'snapshot, and the next one. A row that is not visible yet will carry floor or more.';

CREATE OR REPLACE FUNCTION control.record_use(used_kind text[], used_id text[], used_at timestamptz[]) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
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
$$;

ALTER FUNCTION control.find_invitation SET enable_seqscan = off;
ALTER FUNCTION control.slug_taken SET enable_seqscan = off;
ALTER FUNCTION control.list_organizations SET enable_seqscan = off;
ALTER FUNCTION control.list_organizations SET enable_sort = off;

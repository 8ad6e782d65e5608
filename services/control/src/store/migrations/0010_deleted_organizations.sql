-- Organizations are deleted by a mark, can be restored for some time, and are then removed. What stays is a row without a name, because the short
-- name and the id of an organization are never free again.
ALTER TABLE control.organizations
  ADD COLUMN purge_after timestamptz,
  ADD CHECK ((deleted_at IS NULL) = (purge_after IS NULL));
COMMENT ON COLUMN control.organizations.purge_after IS
  'when everything is removed; until then the organization can be restored. The infinite past: the removal has begun';
CREATE INDEX organizations_to_remove ON control.organizations (purge_after) WHERE purge_after > '-infinity';
GRANT UPDATE (name, created_by_user_id, purge_after) ON control.organizations TO tidemark_control_worker;

GRANT SELECT, DELETE ON control.api_keys, control.service_accounts, control.sessions, control.invitations, control.memberships,
  control.member_counts, control.device_logins TO tidemark_control_worker;

CREATE FUNCTION control.deleted_memberships_of(wanted_user uuid)
  RETURNS TABLE (org_id uuid, name text, slug text, plan_tier text, account_type text, role text, status text,
                 member_count integer, deleted_at timestamptz, purge_after timestamptz)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
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
$$;
COMMENT ON FUNCTION control.deleted_memberships_of IS 'Returns the deleted organizations of a user, the latest first.';

-- The audit log is append-only for everybody; it goes with its organization.
GRANT SELECT, DELETE ON control.audit_events TO tidemark_definer;
SELECT platform.unfence_for('control.audit_events', 'tidemark_definer');
CREATE FUNCTION control.remove_audit_events(org uuid, rows_max bigint) RETURNS bigint
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
$$;
COMMENT ON FUNCTION control.remove_audit_events IS
  'Removes at most rows_max events of an organization whose removal has begun. Returns how many.';

CREATE FUNCTION control.is_deleted_v1(org uuid) RETURNS boolean
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN EXISTS (SELECT FROM control.organizations o WHERE o.org_id = org AND o.deleted_at IS NOT NULL);
END
$$;
COMMENT ON FUNCTION control.is_deleted_v1 IS
  'Whether an organization is deleted, for what is open to callers without credentials.';

REVOKE ALL ON FUNCTION control.deleted_memberships_of, control.remove_audit_events, control.is_deleted_v1 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION control.deleted_memberships_of TO tidemark_control;
GRANT EXECUTE ON FUNCTION control.remove_audit_events TO tidemark_control_worker;
GRANT EXECUTE ON FUNCTION control.is_deleted_v1 TO tidemark_definer;
GRANT CREATE ON SCHEMA control TO tidemark_definer;
ALTER FUNCTION control.deleted_memberships_of OWNER TO tidemark_definer;
ALTER FUNCTION control.remove_audit_events OWNER TO tidemark_definer;
ALTER FUNCTION control.is_deleted_v1 OWNER TO tidemark_definer;
REVOKE CREATE ON SCHEMA control FROM tidemark_definer;
-- Members who are removed are counted off by a trigger.
GRANT UPDATE (active, members) ON control.member_counts TO tidemark_control_worker;

-- What is open to callers without credentials closes with its organization.
CREATE OR REPLACE FUNCTION reports.find_public(wanted_id uuid) RETURNS TABLE (org_id uuid)
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY
    SELECT r.org_id FROM reports.reports r
    WHERE r.id = wanted_id AND r.visibility = 'public' AND r.deleted_at IS NULL AND NOT control.is_deleted_v1(r.org_id);
END
$$;
CREATE OR REPLACE FUNCTION reports.find_shared(wanted_share_id text)
  RETURNS TABLE (org_id uuid, id uuid, hash bytea, issued_at timestamptz)
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY
    SELECT r.org_id, r.id, r.share_hash, r.share_issued_at FROM reports.reports r
    WHERE r.share_id = wanted_share_id AND r.share_id IS NOT NULL AND r.deleted_at IS NULL AND NOT control.is_deleted_v1(r.org_id);
END
$$;

-- Other services record in the audit log what is done to their rows, in the transaction that does it.
CREATE FUNCTION control.record_audit_v1(org uuid, caller_type text, caller_id text, done text, target text, target_id text, request text)
  RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO control.audit_events (org_id, actor_type, actor_id, action, target_type, target_id, request_id)
  SELECT o.org_id, caller_type,
         CASE WHEN caller_type = 'api_key'
              THEN coalesce((SELECT k.id::text FROM control.api_keys k
                             WHERE k.org_id = o.org_id AND k.credential_id = caller_id), '')
              ELSE caller_id END,
         done, target, target_id, request
  FROM control.organizations o WHERE o.org_id = org;
$$;
COMMENT ON FUNCTION control.record_audit_v1 IS
  'Adds an event to the audit log of an organization, which must be that of the transaction. caller_type is user, api_key or operator; a '
  'key is named by the id in its text.';
REVOKE ALL ON FUNCTION control.record_audit_v1 FROM PUBLIC;
GRANT USAGE ON SCHEMA control TO tidemark_runs, tidemark_reports;
GRANT EXECUTE ON FUNCTION control.record_audit_v1 TO tidemark_runs, tidemark_reports;
GRANT CREATE ON SCHEMA control TO tidemark_control;
ALTER FUNCTION control.record_audit_v1 OWNER TO tidemark_control;
REVOKE CREATE ON SCHEMA control FROM tidemark_control;

-- Roles belong to the whole server, so another database of it may have made them already.
-- Service roles do not inherit: being allowed to become a worker must not open the worker's policies.
DO $$
DECLARE
  service text;
  wanted text;
BEGIN
  FOREACH service IN ARRAY ARRAY['control', 'runs', 'ingest', 'artifacts', 'traces', 'reports', 'imports', 'usage'] LOOP
    FOREACH wanted IN ARRAY ARRAY['tidemark_' || service, 'tidemark_' || service || '_worker'] LOOP
      BEGIN
        EXECUTE format('CREATE ROLE %I NOLOGIN NOINHERIT NOSUPERUSER NOBYPASSRLS', wanted);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN
        NULL;
      END;
    END LOOP;
  END LOOP;
  -- Owns the functions that look rows up across organizations, by id only.
  BEGIN
    CREATE ROLE tidemark_definer NOLOGIN NOINHERIT NOSUPERUSER NOBYPASSRLS;
  EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;
  END;
END
$$;

CREATE SCHEMA platform;

DO $$
DECLARE
  service text;
BEGIN
  FOREACH service IN ARRAY ARRAY['control', 'runs', 'ingest', 'artifacts', 'traces', 'reports', 'imports', 'usage'] LOOP
    EXECUTE format('GRANT USAGE ON SCHEMA platform TO %I, %I',
                   'tidemark_' || service, 'tidemark_' || service || '_worker');
  END LOOP;
END
$$;
GRANT USAGE ON SCHEMA platform TO tidemark_definer;

-- The organization of this transaction. Without one the cast of '' fails, which is meant: a
-- statement outside a tenant transaction is a fault, not an empty answer.
CREATE FUNCTION platform.org_id() RETURNS uuid
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN current_setting('app.org_id')::uuid;

-- For functions that are one round trip and therefore set the organization themselves.
CREATE FUNCTION platform.enter_org(org uuid) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('app.org_id', org::text, true);
END
$$;

-- Turns row level security on for a tenant table: the service role sees one organization.
CREATE FUNCTION platform.fence(target regclass) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', target);
  EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', target);
  EXECUTE format('CREATE POLICY tenant ON %s USING (org_id = platform.org_id()) WITH CHECK (org_id = platform.org_id())', target);
END
$$;
REVOKE ALL ON FUNCTION platform.fence(regclass) FROM PUBLIC;

-- Opens a fenced table wholly to a role that no request runs as: a worker, or the definer.
CREATE FUNCTION platform.unfence_for(target regclass, role_name name) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE POLICY %I ON %s TO %I USING (true) WITH CHECK (true)', 'all_for_' || role_name, target, role_name);
END
$$;
REVOKE ALL ON FUNCTION platform.unfence_for(regclass, name) FROM PUBLIC;

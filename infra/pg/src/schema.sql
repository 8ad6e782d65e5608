-- Schema platform: what a new database starts with.

CREATE EXTENSION IF NOT EXISTS btree_gin WITH SCHEMA public;
CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;

-- Roles belong to the whole server, so another database of it may have created them already.
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
  -- Who gives a function to another owner has to be able to become that one. Only superusers always are.
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    FOREACH wanted IN ARRAY ARRAY['tidemark_artifacts', 'tidemark_control', 'tidemark_definer', 'tidemark_imports', 'tidemark_ingest',
      'tidemark_runs', 'tidemark_traces'] LOOP
      BEGIN
        EXECUTE format('GRANT %I TO CURRENT_USER', wanted);
      EXCEPTION WHEN insufficient_privilege THEN
        -- Created by another role, which may have granted it.
        NULL;
      END;
    END LOOP;
  END IF;
END
$$;

CREATE SCHEMA platform;
GRANT USAGE ON SCHEMA platform TO tidemark_artifacts, tidemark_artifacts_worker, tidemark_control,
  tidemark_control_worker, tidemark_definer, tidemark_imports, tidemark_imports_worker, tidemark_ingest,
  tidemark_ingest_worker, tidemark_reports, tidemark_reports_worker, tidemark_runs, tidemark_runs_worker,
  tidemark_traces, tidemark_traces_worker, tidemark_usage, tidemark_usage_worker;
-- To own what follows; taken back at the end.
GRANT CREATE ON SCHEMA platform TO tidemark_definer;

CREATE FUNCTION platform.org_id() RETURNS uuid
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN current_setting('app.org_id')::uuid;
COMMENT ON FUNCTION platform.org_id IS
  'Returns the organization of this transaction. Without one the cast of an empty text fails on purpose: a '
  'statement outside a tenant transaction is a fault, not an empty answer.';

CREATE FUNCTION platform.fence(target regclass)
RETURNS void
LANGUAGE plpgsql
AS $function$
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', target);
  EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', target);
  EXECUTE format('CREATE POLICY tenant ON %s USING (org_id = platform.org_id()) WITH CHECK (org_id = platform.org_id())', target);
END
$function$;
COMMENT ON FUNCTION platform.fence IS
  'Turns row level security on for a tenant table: the service role sees the rows of one organization.';
REVOKE ALL ON FUNCTION platform.fence FROM PUBLIC;

CREATE FUNCTION platform.unfence_for(target regclass, role_name name)
RETURNS void
LANGUAGE plpgsql
AS $function$
BEGIN
  EXECUTE format('CREATE POLICY %I ON %s TO %I USING (true) WITH CHECK (true)', 'all_for_' || role_name, target, role_name);
END
$function$;
COMMENT ON FUNCTION platform.unfence_for IS
  'Opens a fenced table wholly to a role that no request runs as: a worker, or the definer.';
REVOKE ALL ON FUNCTION platform.unfence_for FROM PUBLIC;

CREATE TABLE platform.idempotency_0 (
  org_id uuid NOT NULL,
  key_hash bytea NOT NULL,
  body_hash bytea NOT NULL,
  reply bytea NOT NULL,
  created_at timestamptz DEFAULT now() NOT NULL,
  CONSTRAINT idempotency_0_pkey PRIMARY KEY (org_id, key_hash)
);
COMMENT ON COLUMN platform.idempotency_0.key_hash IS 'first 16 bytes of SHA-256 of the key';
COMMENT ON COLUMN platform.idempotency_0.body_hash IS 'first 16 bytes of SHA-256 of route, path ids and canonical body';
SELECT platform.fence('platform.idempotency_0');
GRANT SELECT, INSERT, UPDATE ON TABLE platform.idempotency_0 TO tidemark_artifacts, tidemark_control, tidemark_imports,
  tidemark_ingest, tidemark_reports, tidemark_runs, tidemark_traces, tidemark_usage;

CREATE TABLE platform.idempotency_1 (
  org_id uuid NOT NULL,
  key_hash bytea NOT NULL,
  body_hash bytea NOT NULL,
  reply bytea NOT NULL,
  created_at timestamptz DEFAULT now() NOT NULL,
  CONSTRAINT idempotency_1_pkey PRIMARY KEY (org_id, key_hash)
);
SELECT platform.fence('platform.idempotency_1');
GRANT SELECT, INSERT, UPDATE ON TABLE platform.idempotency_1 TO tidemark_artifacts, tidemark_control, tidemark_imports,
  tidemark_ingest, tidemark_reports, tidemark_runs, tidemark_traces, tidemark_usage;

CREATE TABLE platform.idempotency_2 (
  org_id uuid NOT NULL,
  key_hash bytea NOT NULL,
  body_hash bytea NOT NULL,
  reply bytea NOT NULL,
  created_at timestamptz DEFAULT now() NOT NULL,
  CONSTRAINT idempotency_2_pkey PRIMARY KEY (org_id, key_hash)
);
SELECT platform.fence('platform.idempotency_2');
GRANT SELECT, INSERT, UPDATE ON TABLE platform.idempotency_2 TO tidemark_artifacts, tidemark_control, tidemark_imports,
  tidemark_ingest, tidemark_reports, tidemark_runs, tidemark_traces, tidemark_usage;

CREATE TABLE platform.outbox (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  service text NOT NULL,
  subject text NOT NULL,
  headers json DEFAULT '{}'::json NOT NULL,
  payload bytea NOT NULL,
  created_at timestamptz DEFAULT now() NOT NULL,
  claimed_until timestamptz DEFAULT '-infinity'::timestamptz NOT NULL,
  CONSTRAINT outbox_pkey PRIMARY KEY (org_id, id)
);
CREATE INDEX outbox_due ON platform.outbox (service, claimed_until, created_at);
SELECT platform.fence('platform.outbox');
SELECT platform.unfence_for('platform.outbox', 'tidemark_artifacts_worker');
SELECT platform.unfence_for('platform.outbox', 'tidemark_control_worker');
SELECT platform.unfence_for('platform.outbox', 'tidemark_imports_worker');
SELECT platform.unfence_for('platform.outbox', 'tidemark_ingest_worker');
SELECT platform.unfence_for('platform.outbox', 'tidemark_reports_worker');
SELECT platform.unfence_for('platform.outbox', 'tidemark_runs_worker');
SELECT platform.unfence_for('platform.outbox', 'tidemark_traces_worker');
SELECT platform.unfence_for('platform.outbox', 'tidemark_usage_worker');
GRANT INSERT ON TABLE platform.outbox TO tidemark_artifacts, tidemark_control, tidemark_imports, tidemark_ingest,
  tidemark_reports, tidemark_runs, tidemark_traces, tidemark_usage;
GRANT SELECT, UPDATE, DELETE ON TABLE platform.outbox TO tidemark_artifacts_worker, tidemark_control_worker,
  tidemark_imports_worker, tidemark_ingest_worker, tidemark_reports_worker, tidemark_runs_worker,
  tidemark_traces_worker, tidemark_usage_worker;

CREATE TABLE platform.removals (
  xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
  org_id uuid NOT NULL,
  kind text COLLATE "C" NOT NULL,
  id uuid NOT NULL,
  project_id uuid,
  owner text COLLATE "C" NOT NULL,
  waiting text[] COLLATE "C" NOT NULL,
  begun_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT removals_pkey PRIMARY KEY (org_id, kind, id),
  CONSTRAINT removals_check CHECK ((kind = 'run') = (project_id IS NOT NULL)),
  CONSTRAINT removals_kind_check CHECK (kind IN ('run', 'project', 'organization'))
);
COMMENT ON TABLE platform.removals IS 'What is being removed permanently.';
COMMENT ON COLUMN platform.removals.xid IS
  'the transaction that began the removal: writes that were open then may still add to it';
COMMENT ON COLUMN platform.removals.id IS 'of the run, the project or the organization';
COMMENT ON COLUMN platform.removals.project_id IS 'of a run';
COMMENT ON COLUMN platform.removals.owner IS 'the service that removes its rows when the others have removed theirs';
COMMENT ON COLUMN platform.removals.waiting IS 'the services that may still have rows, without the owner';
CREATE INDEX removals_in_order ON platform.removals (xid, id);
SELECT platform.fence('platform.removals');
SELECT platform.unfence_for('platform.removals', 'tidemark_definer');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE platform.removals TO tidemark_definer;

CREATE TABLE platform.stored_bytes (
  org_id uuid NOT NULL,
  kind text COLLATE "C" NOT NULL,
  slot integer NOT NULL,
  bytes bigint NOT NULL,
  CONSTRAINT stored_bytes_pkey PRIMARY KEY (org_id, kind, slot),
  CONSTRAINT stored_bytes_kind_check CHECK (kind IN ('artifacts', 'points', 'logs', 'attributes', 'objects', 'documents',
    'traces', 'reports'))
) WITH (fillfactor=20, autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_threshold=500);
COMMENT ON TABLE platform.stored_bytes IS
  'The logical bytes that an organization stores, by kind: the sum over the slots, each of which may be negative. Of '
  'artifacts, points and documents only what no other counter has.';
COMMENT ON COLUMN platform.stored_bytes.slot IS 'of one transaction at a time';
SELECT platform.fence('platform.stored_bytes');
GRANT SELECT, INSERT, UPDATE ON TABLE platform.stored_bytes TO tidemark_artifacts, tidemark_imports, tidemark_ingest,
  tidemark_ingest_worker, tidemark_reports, tidemark_reports_worker, tidemark_runs, tidemark_runs_worker,
  tidemark_traces, tidemark_traces_worker, tidemark_usage;
GRANT SELECT, DELETE ON TABLE platform.stored_bytes TO tidemark_control_worker;

CREATE FUNCTION platform.add_stored(org uuid, of_kind text, added bigint)
RETURNS void
LANGUAGE plpgsql
AS $function$
DECLARE
  at_slot integer := pg_backend_pid() % 16;
BEGIN
  -- A slot that another transaction holds is passed over, so that no transaction waits here for locks of others.
  WHILE NOT pg_try_advisory_xact_lock(uuid_hash_extended(org, at_slot)) LOOP
    at_slot := at_slot + 1;
  END LOOP;
  INSERT INTO platform.stored_bytes AS s (org_id, kind, slot, bytes) VALUES (org, of_kind, at_slot, added)
  ON CONFLICT (org_id, kind, slot) DO UPDATE SET bytes = s.bytes + excluded.bytes;
END
$function$;
COMMENT ON FUNCTION platform.add_stored IS
  'Adds to the bytes of a kind that an organization stores, in this transaction. Takes a slot that no other '
  'transaction has, so it never waits and can be called at any time.';

CREATE FUNCTION platform.begin_removals(org uuid, of_kind text, ids uuid[], project uuid, of_owner text, others text[])
RETURNS void
LANGUAGE sql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  INSERT INTO platform.removals (org_id, kind, id, project_id, owner, waiting)
  SELECT org, of_kind, u.id, project, of_owner, others FROM unnest(ids) AS u (id)
  ON CONFLICT DO NOTHING;
$function$;
COMMENT ON FUNCTION platform.begin_removals IS
  'Asks the services to remove what they have of runs of a project, of a project or of an organization.';
REVOKE ALL ON FUNCTION platform.begin_removals FROM PUBLIC;
ALTER FUNCTION platform.begin_removals OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION platform.begin_removals TO tidemark_control_worker, tidemark_runs_worker;

CREATE FUNCTION platform.claim_key(org uuid, key bytea, body bytea)
RETURNS TABLE(same_body boolean, reply bytea)
LANGUAGE plpgsql
AS $function$
DECLARE
  alive timestamptz := now() - interval '7 days';
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(encode(key, 'hex') || org::text, 0));
  -- This week's table, then last week's. Written out for each turn, so that the plans are kept.
  CASE platform.idempotency_turn(now())
    WHEN 0 THEN
      RETURN QUERY SELECT i.body_hash = body, i.reply FROM platform.idempotency_0 i WHERE i.org_id = org AND i.key_hash = key AND i.created_at > alive;
      IF NOT FOUND THEN
        RETURN QUERY SELECT i.body_hash = body, i.reply FROM platform.idempotency_2 i WHERE i.org_id = org AND i.key_hash = key AND i.created_at > alive;
      END IF;
    WHEN 1 THEN
      RETURN QUERY SELECT i.body_hash = body, i.reply FROM platform.idempotency_1 i WHERE i.org_id = org AND i.key_hash = key AND i.created_at > alive;
      IF NOT FOUND THEN
        RETURN QUERY SELECT i.body_hash = body, i.reply FROM platform.idempotency_0 i WHERE i.org_id = org AND i.key_hash = key AND i.created_at > alive;
      END IF;
    ELSE
      RETURN QUERY SELECT i.body_hash = body, i.reply FROM platform.idempotency_2 i WHERE i.org_id = org AND i.key_hash = key AND i.created_at > alive;
      IF NOT FOUND THEN
        RETURN QUERY SELECT i.body_hash = body, i.reply FROM platform.idempotency_1 i WHERE i.org_id = org AND i.key_hash = key AND i.created_at > alive;
      END IF;
  END CASE;
END
$function$;
COMMENT ON FUNCTION platform.claim_key IS
  'Takes an idempotency key for this transaction and returns what it was used for before, if it was. The first of '
  'concurrent senders continues; the others wait here until it has committed or lock_timeout ends their wait. The '
  'lock is on the key, not on a row, so a rollback leaves nothing behind.';

CREATE TYPE platform.idempotency_record AS (key bytea, body bytea, reply bytea);
COMMENT ON TYPE platform.idempotency_record IS 'The hashes of an idempotency key and of a request, and its reply.';

CREATE FUNCTION platform.claim_keys(org uuid, records platform.idempotency_record[])
RETURNS TABLE(place integer, same_body boolean, reply bytea)
LANGUAGE plpgsql
AS $function$
DECLARE
  alive timestamptz := now() - interval '7 days';
BEGIN
  RETURN QUERY
    SELECT k.ordinality::integer, NULL::boolean, NULL::bytea FROM unnest(records) WITH ORDINALITY k
    WHERE NOT pg_try_advisory_xact_lock(hashtextextended(encode(k.key, 'hex') || org::text, 0));
  -- This week's table and last week's, after the locks: their previous holders have committed. The limit
  -- makes it a look-up for each key, also by a plan that was made while the tables were small.
  CASE platform.idempotency_turn(now())
    WHEN 0 THEN
      RETURN QUERY
        SELECT k.ordinality::integer, f.body_hash = k.body, f.reply
        FROM unnest(records) WITH ORDINALITY k CROSS JOIN LATERAL (
          SELECT i.body_hash, i.reply FROM platform.idempotency_0 i
          WHERE i.org_id = org AND i.key_hash = k.key AND i.created_at > alive
          UNION ALL
          SELECT i.body_hash, i.reply FROM platform.idempotency_2 i
          WHERE i.org_id = org AND i.key_hash = k.key AND i.created_at > alive
          LIMIT 1
        ) f;
    WHEN 1 THEN
      RETURN QUERY
        SELECT k.ordinality::integer, f.body_hash = k.body, f.reply
        FROM unnest(records) WITH ORDINALITY k CROSS JOIN LATERAL (
          SELECT i.body_hash, i.reply FROM platform.idempotency_1 i
          WHERE i.org_id = org AND i.key_hash = k.key AND i.created_at > alive
          UNION ALL
          SELECT i.body_hash, i.reply FROM platform.idempotency_0 i
          WHERE i.org_id = org AND i.key_hash = k.key AND i.created_at > alive
          LIMIT 1
        ) f;
    ELSE
      RETURN QUERY
        SELECT k.ordinality::integer, f.body_hash = k.body, f.reply
        FROM unnest(records) WITH ORDINALITY k CROSS JOIN LATERAL (
          SELECT i.body_hash, i.reply FROM platform.idempotency_2 i
          WHERE i.org_id = org AND i.key_hash = k.key AND i.created_at > alive
          UNION ALL
          SELECT i.body_hash, i.reply FROM platform.idempotency_1 i
          WHERE i.org_id = org AND i.key_hash = k.key AND i.created_at > alive
          LIMIT 1
        ) f;
  END CASE;
END
$function$;
COMMENT ON FUNCTION platform.claim_keys IS
  'Takes all the keys for this transaction and returns only those that cannot be used: without a reply those that '
  'another transaction holds now, with one those that were used before. Waits for nothing. A caller that gets a row '
  'back must end its transaction, because the other keys stay taken until then. The keys are distinct; place counts '
  'them from 1. The lock is that of claim_key.';

CREATE FUNCTION platform.copied_columns(target regclass) RETURNS text
  LANGUAGE sql STABLE
  RETURN (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_catalog.pg_attribute a
          WHERE a.attrelid = target AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' AND a.attname <> 'run_id');
COMMENT ON FUNCTION platform.copied_columns IS
  'Returns the names of the columns that a row of a run keeps when it is copied to another run: all that are stored, '
  'without run_id.';

CREATE FUNCTION platform.copied_id(copy uuid, old uuid) RETURNS uuid
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN overlay(overlay(md5(copy::text || old::text) PLACING '8' FROM 13) PLACING 'a' FROM 17)::uuid;
COMMENT ON FUNCTION platform.copied_id IS
  'Returns the id that something of a run has in a copy of the run: always the same, so that what refers to it can be '
  'copied before it.';

CREATE FUNCTION platform.count_changed_bytes()
RETURNS trigger
LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM platform.add_stored(NEW.org_id, TG_ARGV[0], NEW.bytes - OLD.bytes);
  RETURN NULL;
END
$function$;
COMMENT ON FUNCTION platform.count_changed_bytes IS
  'Counts a row whose column bytes has changed. The argument of the trigger is the kind; it fires for each row WHEN '
  '(old.bytes <> new.bytes).';

CREATE FUNCTION platform.count_stored_bytes()
RETURNS trigger
LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM platform.add_stored(d.org_id, TG_ARGV[0], d.bytes)
    FROM (SELECT n.org_id, sum(n.bytes)::bigint AS bytes FROM now_stored n GROUP BY n.org_id) d WHERE d.bytes <> 0;
  ELSE
    PERFORM platform.add_stored(d.org_id, TG_ARGV[0], -d.bytes)
    FROM (SELECT o.org_id, sum(o.bytes)::bigint AS bytes FROM was_stored o GROUP BY o.org_id) d WHERE d.bytes <> 0;
  END IF;
  RETURN NULL;
END
$function$;
COMMENT ON FUNCTION platform.count_stored_bytes IS
  'Counts the column bytes of the rows that a statement has inserted (now_stored) or deleted (was_stored). The '
  'argument of the trigger is the kind.';

CREATE FUNCTION platform.count_stored(target regclass, of_kind text)
RETURNS void
LANGUAGE plpgsql
AS $function$
DECLARE
  name text := (SELECT c.relname FROM pg_class c WHERE c.oid = target);
BEGIN
  EXECUTE format('CREATE TRIGGER %I AFTER INSERT ON %s REFERENCING NEW TABLE AS now_stored
                  FOR EACH STATEMENT EXECUTE FUNCTION platform.count_stored_bytes(%L)', name || '_bytes_added', target, of_kind);
  EXECUTE format('CREATE TRIGGER %I AFTER DELETE ON %s REFERENCING OLD TABLE AS was_stored
                  FOR EACH STATEMENT EXECUTE FUNCTION platform.count_stored_bytes(%L)', name || '_bytes_removed', target, of_kind);
  EXECUTE format('CREATE TRIGGER %I AFTER UPDATE ON %s FOR EACH ROW WHEN (old.bytes <> new.bytes)
                  EXECUTE FUNCTION platform.count_changed_bytes(%L)', name || '_bytes_changed', target, of_kind);
END
$function$;
COMMENT ON FUNCTION platform.count_stored IS
  'Has the column bytes of a table counted as bytes of a kind, in the statements that write it, whichever these are.';
REVOKE ALL ON FUNCTION platform.count_stored FROM PUBLIC;

CREATE FUNCTION platform.due_removals(of_service text, after_xid xid8, after_id uuid, rows_max integer)
RETURNS TABLE(xid text, org_id uuid, kind text, id uuid, project_id uuid)
LANGUAGE sql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  SELECT r.xid::text, r.org_id, r.kind, r.id, r.project_id FROM platform.removals r
  WHERE (r.xid, r.id) > (after_xid, after_id)
    -- Greater numbers are from a dump from another server, whose transactions are not open here.
    AND (r.xid < pg_snapshot_xmin(pg_current_snapshot()) OR r.xid >= pg_snapshot_xmax(pg_current_snapshot()))
    AND (of_service = ANY (r.waiting) OR (r.owner = of_service AND r.waiting = '{}'))
  ORDER BY r.xid, r.id LIMIT rows_max;
$function$;
COMMENT ON FUNCTION platform.due_removals IS
  'Returns a page of what a service has to remove now, the oldest first, behind the given place. A removal is due '
  'when every transaction has ended that was open when it began, so that nothing is written to it afterwards.';
REVOKE ALL ON FUNCTION platform.due_removals FROM PUBLIC;
ALTER FUNCTION platform.due_removals OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION platform.due_removals TO tidemark_artifacts_worker, tidemark_control_worker,
  tidemark_imports_worker, tidemark_ingest_worker, tidemark_reports_worker, tidemark_runs_worker,
  tidemark_traces_worker, tidemark_usage_worker;

CREATE FUNCTION platform.enter_org(org uuid)
RETURNS void
LANGUAGE plpgsql
AS $function$
BEGIN
  PERFORM set_config('app.org_id', org::text, true);
END
$function$;
COMMENT ON FUNCTION platform.enter_org IS
  'Sets the organization of the transaction, for functions that are one round trip and therefore set it themselves.';

CREATE FUNCTION platform.finish_removal(of_service text, org uuid, of_kind text, of_id uuid)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  DELETE FROM platform.removals r
  WHERE r.org_id = org AND r.kind = of_kind AND r.id = of_id AND r.owner = of_service AND r.waiting = '{}';
  IF NOT FOUND THEN
    UPDATE platform.removals r SET waiting = array_remove(r.waiting, of_service)
    WHERE r.org_id = org AND r.kind = of_kind AND r.id = of_id AND of_service = ANY (r.waiting);
  END IF;
END
$function$;
COMMENT ON FUNCTION platform.finish_removal IS
  'Records that a service has removed all of its data. The owner''s record ends the removal.';
REVOKE ALL ON FUNCTION platform.finish_removal FROM PUBLIC;
ALTER FUNCTION platform.finish_removal OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION platform.finish_removal TO tidemark_artifacts_worker, tidemark_control_worker,
  tidemark_imports_worker, tidemark_ingest_worker, tidemark_reports_worker, tidemark_runs_worker,
  tidemark_traces_worker, tidemark_usage_worker;

CREATE FUNCTION platform.idempotency_turn(at timestamptz) RETURNS integer
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN (floor(extract(epoch FROM at) / 604800)::bigint % 3)::integer;
COMMENT ON FUNCTION platform.idempotency_turn IS 'Returns the table that takes the records of an instant: 0, 1 or 2.';

CREATE FUNCTION platform.keep_key(org uuid, key bytea, body bytea, answer bytea)
RETURNS void
LANGUAGE plpgsql
AS $function$
BEGIN
  CASE platform.idempotency_turn(now())
    WHEN 0 THEN
      INSERT INTO platform.idempotency_0 (org_id, key_hash, body_hash, reply) VALUES (org, key, body, answer)
      ON CONFLICT (org_id, key_hash) DO UPDATE SET body_hash = excluded.body_hash, reply = excluded.reply, created_at = excluded.created_at;
    WHEN 1 THEN
      INSERT INTO platform.idempotency_1 (org_id, key_hash, body_hash, reply) VALUES (org, key, body, answer)
      ON CONFLICT (org_id, key_hash) DO UPDATE SET body_hash = excluded.body_hash, reply = excluded.reply, created_at = excluded.created_at;
    ELSE
      INSERT INTO platform.idempotency_2 (org_id, key_hash, body_hash, reply) VALUES (org, key, body, answer)
      ON CONFLICT (org_id, key_hash) DO UPDATE SET body_hash = excluded.body_hash, reply = excluded.reply, created_at = excluded.created_at;
  END CASE;
END
$function$;
COMMENT ON FUNCTION platform.keep_key IS
  'Writes the record of a key that claim_key gave to this transaction, over one that has expired. Not LANGUAGE sql: '
  'up to version 17 PostgreSQL would plan such a function again at every call.';

CREATE FUNCTION platform.keep_keys(org uuid, records platform.idempotency_record[])
RETURNS void
LANGUAGE plpgsql
AS $function$
BEGIN
  CASE platform.idempotency_turn(now())
    WHEN 0 THEN
      INSERT INTO platform.idempotency_0 (org_id, key_hash, body_hash, reply)
      SELECT org, k.* FROM unnest(records) k
      ON CONFLICT (org_id, key_hash) DO UPDATE SET body_hash = excluded.body_hash, reply = excluded.reply, created_at = excluded.created_at;
    WHEN 1 THEN
      INSERT INTO platform.idempotency_1 (org_id, key_hash, body_hash, reply)
      SELECT org, k.* FROM unnest(records) k
      ON CONFLICT (org_id, key_hash) DO UPDATE SET body_hash = excluded.body_hash, reply = excluded.reply, created_at = excluded.created_at;
    ELSE
      INSERT INTO platform.idempotency_2 (org_id, key_hash, body_hash, reply)
      SELECT org, k.* FROM unnest(records) k
      ON CONFLICT (org_id, key_hash) DO UPDATE SET body_hash = excluded.body_hash, reply = excluded.reply, created_at = excluded.created_at;
  END CASE;
END
$function$;
COMMENT ON FUNCTION platform.keep_keys IS
  'Writes the records of keys that claim_keys gave to this transaction, over those that have expired.';

CREATE FUNCTION platform.sees_deleted() RETURNS boolean
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN coalesce(current_setting('app.sees_deleted', true), '') = 'on';
COMMENT ON FUNCTION platform.sees_deleted IS
  'Whether this transaction sees deleted rows as well: only those that delete, restore, list and remove '
  'them do.';

CREATE FUNCTION platform.text_bytes(texts text[]) RETURNS integer
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN (SELECT coalesce(sum(octet_length(t.text)), 0)::integer FROM unnest(texts) AS t (text));
COMMENT ON FUNCTION platform.text_bytes IS 'Returns the UTF-8 bytes of some texts together.';

CREATE FUNCTION platform.turn_generations()
RETURNS boolean
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  coming text := format('platform.idempotency_%s', (platform.idempotency_turn(now()) + 1) % 3);
  -- By its size: the rows themselves are fenced, from the owner too.
  filled boolean := pg_relation_size(coming::regclass) > 0;
BEGIN
  IF filled THEN
    EXECUTE format('TRUNCATE %s', coming);
  END IF;
  RETURN filled;
END
$function$;
COMMENT ON FUNCTION platform.turn_generations IS
  'Empties the table of the coming week, which holds rows that are at least seven days old and not read this '
  'week. Runs as the owner; the control service calls it hourly. Returns whether there was anything.';
REVOKE ALL ON FUNCTION platform.turn_generations FROM PUBLIC;
GRANT EXECUTE ON FUNCTION platform.turn_generations TO tidemark_control;

REVOKE CREATE ON SCHEMA platform FROM tidemark_definer;

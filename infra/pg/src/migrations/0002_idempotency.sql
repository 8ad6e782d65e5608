-- One record per accepted keyed write. Generations of a week each are dropped whole: at high write
-- rates deleting row by row would cost more than the writes themselves.
CREATE TABLE platform.idempotency (
  org_id uuid NOT NULL,
  key_hash bytea NOT NULL,
  generation integer NOT NULL,
  body_hash bytea NOT NULL,
  reply bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, key_hash, generation)
) PARTITION BY LIST (generation);

COMMENT ON COLUMN platform.idempotency.key_hash IS 'first 16 bytes of SHA-256 of the key';
COMMENT ON COLUMN platform.idempotency.body_hash IS 'first 16 bytes of SHA-256 of route, path ids and canonical body';

SELECT platform.fence('platform.idempotency');

CREATE FUNCTION platform.generation_of(at timestamptz) RETURNS integer
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN floor(extract(epoch FROM at) / 604800)::integer;

-- Makes the partitions of this week and the next, drops those in which every record is older than
-- seven days. Runs as the owner; called hourly by the control service and at every migration.
CREATE FUNCTION platform.turn_generations() RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  this_week integer := platform.generation_of(now());
  week integer;
  old record;
  dropped integer := 0;
BEGIN
  FOR week IN this_week .. this_week + 1 LOOP
    IF to_regclass(format('platform.idempotency_%s', week)) IS NULL THEN
      EXECUTE format('CREATE TABLE platform.idempotency_%s PARTITION OF platform.idempotency FOR VALUES IN (%s)', week, week);
      EXECUTE format('ALTER TABLE platform.idempotency_%s ENABLE ROW LEVEL SECURITY', week);
      EXECUTE format('ALTER TABLE platform.idempotency_%s FORCE ROW LEVEL SECURITY', week);
    END IF;
  END LOOP;
  FOR old IN
    SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'platform.idempotency'::regclass
      AND substring(c.relname FROM '\d+$')::integer < this_week - 1
  LOOP
    EXECUTE format('DROP TABLE platform.%I', old.relname);
    dropped := dropped + 1;
  END LOOP;
  RETURN dropped;
END
$$;
REVOKE ALL ON FUNCTION platform.turn_generations() FROM PUBLIC;
SELECT platform.turn_generations();

-- Takes a key for this transaction and returns what it was used for before, if it was: the first
-- of concurrent senders goes on, the others wait here until it has committed or lock_timeout ends
-- their patience. The lock is on the key, not on a row, so nothing is left behind by a rollback.
CREATE FUNCTION platform.claim_key(org uuid, key bytea, body bytea)
  RETURNS TABLE (same_body boolean, reply bytea)
  LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(encode(key, 'hex') || org::text, 0));
  RETURN QUERY
    SELECT i.body_hash = body, i.reply
    FROM platform.idempotency i
    WHERE i.org_id = org AND i.key_hash = key
      AND i.generation IN (platform.generation_of(now()), platform.generation_of(now()) - 1)
      AND i.created_at > now() - interval '7 days'
    ORDER BY i.generation DESC LIMIT 1;
END
$$;

-- Writes the record of a key that claim_key left to this transaction. Not LANGUAGE sql: up to
-- version 17 PostgreSQL would plan such a function anew at every call, which costs more than the insert.
CREATE FUNCTION platform.keep_key(org uuid, key bytea, body bytea, answer bytea) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO platform.idempotency (org_id, key_hash, generation, body_hash, reply)
  VALUES (org, key, platform.generation_of(now()), body, answer)
  ON CONFLICT (org_id, key_hash, generation)
    DO UPDATE SET body_hash = excluded.body_hash, reply = excluded.reply, created_at = excluded.created_at;
END
$$;

DO $$
DECLARE
  service text;
BEGIN
  FOREACH service IN ARRAY ARRAY['control', 'runs', 'ingest', 'artifacts', 'traces', 'reports', 'imports', 'usage'] LOOP
    EXECUTE format('GRANT SELECT, INSERT, UPDATE ON platform.idempotency TO %I', 'tidemark_' || service);
  END LOOP;
  GRANT EXECUTE ON FUNCTION platform.turn_generations() TO tidemark_control;
END
$$;

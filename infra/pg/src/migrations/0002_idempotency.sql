-- One record per accepted keyed write, in one of three tables that take turns by the week: at high
-- write rates deleting row by row would cost more than the writes themselves, so a table is emptied
-- as a whole once everything in it has expired. Plain tables and no partitions, because finding the
-- partition costs more than the insert.
CREATE TABLE platform.idempotency_0 (
  org_id uuid NOT NULL,
  key_hash bytea NOT NULL,
  body_hash bytea NOT NULL,
  reply bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, key_hash)
);
CREATE TABLE platform.idempotency_1 (LIKE platform.idempotency_0 INCLUDING ALL);
CREATE TABLE platform.idempotency_2 (LIKE platform.idempotency_0 INCLUDING ALL);

COMMENT ON COLUMN platform.idempotency_0.key_hash IS 'first 16 bytes of SHA-256 of the key';
COMMENT ON COLUMN platform.idempotency_0.body_hash IS 'first 16 bytes of SHA-256 of route, path ids and canonical body';

SELECT platform.fence('platform.idempotency_0');
SELECT platform.fence('platform.idempotency_1');
SELECT platform.fence('platform.idempotency_2');

-- The table that takes the records of an instant: 0, 1 or 2.
CREATE FUNCTION platform.idempotency_turn(at timestamptz) RETURNS integer
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN (floor(extract(epoch FROM at) / 604800)::bigint % 3)::integer;

-- Empties the table of the coming week, which holds what is at least seven days old and which
-- nobody reads in this one. Runs as the owner; called hourly by the control service. Returns
-- whether there was anything.
CREATE FUNCTION platform.turn_generations() RETURNS boolean
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
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
$$;
REVOKE ALL ON FUNCTION platform.turn_generations() FROM PUBLIC;

-- Takes a key for this transaction and returns what it was used for before, if it was: the first
-- of concurrent senders goes on, the others wait here until it has committed or lock_timeout ends
-- their patience. The lock is on the key, not on a row, so nothing is left behind by a rollback.
CREATE FUNCTION platform.claim_key(org uuid, key bytea, body bytea)
  RETURNS TABLE (same_body boolean, reply bytea)
  LANGUAGE plpgsql AS $$
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
$$;

-- Writes the record of a key that claim_key left to this transaction, over one that has expired.
-- Not LANGUAGE sql: up to version 17 PostgreSQL would plan such a function anew at every call.
CREATE FUNCTION platform.keep_key(org uuid, key bytea, body bytea, answer bytea) RETURNS void
  LANGUAGE plpgsql AS $$
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
$$;

DO $$
DECLARE
  service text;
  turn integer;
BEGIN
  FOREACH service IN ARRAY ARRAY['control', 'runs', 'ingest', 'artifacts', 'traces', 'reports', 'imports', 'usage'] LOOP
    FOR turn IN 0 .. 2 LOOP
      EXECUTE format('GRANT SELECT, INSERT, UPDATE ON platform.idempotency_%s TO %I', turn, 'tidemark_' || service);
    END LOOP;
  END LOOP;
  GRANT EXECUTE ON FUNCTION platform.turn_generations() TO tidemark_control;
END
$$;

-- Idempotency keys of many writes at once, for writes that share a transaction.

-- Takes all the keys for this transaction, and returns only those that cannot be used: without a reply
-- those that another transaction holds at this moment, with one those that were used before. Nothing
-- is waited for. Whoever gets a row back must not go on, as keys that were taken stay so until the
-- transaction ends. The keys are distinct; `place` counts them from 1. The lock is that of claim_key.
CREATE FUNCTION platform.claim_keys(org uuid, keys bytea[], bodies bytea[])
  RETURNS TABLE (place integer, same_body boolean, reply bytea)
  LANGUAGE plpgsql AS $$
DECLARE
  alive timestamptz := now() - interval '7 days';
BEGIN
  RETURN QUERY
    SELECT k.n::integer, NULL::boolean, NULL::bytea FROM unnest(keys) WITH ORDINALITY AS k (key, n)
    WHERE NOT pg_try_advisory_xact_lock(hashtextextended(encode(k.key, 'hex') || org::text, 0));
  -- This week's table and last week's, after the locks: whoever held one of them has committed. The limit
  -- makes it a look-up for each key, also by a plan that was made while the tables were small.
  CASE platform.idempotency_turn(now())
    WHEN 0 THEN
      RETURN QUERY
        SELECT k.n::integer, f.body_hash = k.body, f.reply
        FROM unnest(keys, bodies) WITH ORDINALITY AS k (key, body, n) CROSS JOIN LATERAL (
          SELECT i.body_hash, i.reply FROM platform.idempotency_0 i
          WHERE i.org_id = org AND i.key_hash = k.key AND i.created_at > alive
          UNION ALL
          SELECT i.body_hash, i.reply FROM platform.idempotency_2 i
          WHERE i.org_id = org AND i.key_hash = k.key AND i.created_at > alive
          LIMIT 1
        ) f;
    WHEN 1 THEN
      RETURN QUERY
        SELECT k.n::integer, f.body_hash = k.body, f.reply
        FROM unnest(keys, bodies) WITH ORDINALITY AS k (key, body, n) CROSS JOIN LATERAL (
          SELECT i.body_hash, i.reply FROM platform.idempotency_1 i
          WHERE i.org_id = org AND i.key_hash = k.key AND i.created_at > alive
          UNION ALL
          SELECT i.body_hash, i.reply FROM platform.idempotency_0 i
          WHERE i.org_id = org AND i.key_hash = k.key AND i.created_at > alive
          LIMIT 1
        ) f;
    ELSE
      RETURN QUERY
        SELECT k.n::integer, f.body_hash = k.body, f.reply
        FROM unnest(keys, bodies) WITH ORDINALITY AS k (key, body, n) CROSS JOIN LATERAL (
          SELECT i.body_hash, i.reply FROM platform.idempotency_2 i
          WHERE i.org_id = org AND i.key_hash = k.key AND i.created_at > alive
          UNION ALL
          SELECT i.body_hash, i.reply FROM platform.idempotency_1 i
          WHERE i.org_id = org AND i.key_hash = k.key AND i.created_at > alive
          LIMIT 1
        ) f;
  END CASE;
END
$$;

-- Writes the records of keys that claim_keys left to this transaction, over those that have expired.
CREATE FUNCTION platform.keep_keys(org uuid, keys bytea[], bodies bytea[], answers bytea[]) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  CASE platform.idempotency_turn(now())
    WHEN 0 THEN
      INSERT INTO platform.idempotency_0 (org_id, key_hash, body_hash, reply)
      SELECT org, k.* FROM unnest(keys, bodies, answers) AS k
      ON CONFLICT (org_id, key_hash) DO UPDATE SET body_hash = excluded.body_hash, reply = excluded.reply, created_at = excluded.created_at;
    WHEN 1 THEN
      INSERT INTO platform.idempotency_1 (org_id, key_hash, body_hash, reply)
      SELECT org, k.* FROM unnest(keys, bodies, answers) AS k
      ON CONFLICT (org_id, key_hash) DO UPDATE SET body_hash = excluded.body_hash, reply = excluded.reply, created_at = excluded.created_at;
    ELSE
      INSERT INTO platform.idempotency_2 (org_id, key_hash, body_hash, reply)
      SELECT org, k.* FROM unnest(keys, bodies, answers) AS k
      ON CONFLICT (org_id, key_hash) DO UPDATE SET body_hash = excluded.body_hash, reply = excluded.reply, created_at = excluded.created_at;
  END CASE;
END
$$;

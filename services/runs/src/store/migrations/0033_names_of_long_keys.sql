-- A long key was copied for each member below it, before the names were found too long.
CREATE OR REPLACE FUNCTION runs.config_names(config text) RETURNS SETOF text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  SET search_path = pg_catalog, pg_temp AS $$
  WITH RECURSIVE members (name, value) AS (
    SELECT e.key, e.value FROM json_each(config::json) e
    UNION ALL
    SELECT m.name || '.' || e.key, e.value
    FROM members m CROSS JOIN LATERAL json_each(CASE WHEN json_typeof(m.value) = 'object' THEN m.value ELSE '{}' END) e
    WHERE octet_length(m.name) < 512
  )
  SELECT m.name FROM members m
  WHERE (json_typeof(m.value) <> 'object' OR m.value::text = '{}') AND octet_length(m.name) BETWEEN 1 AND 512
$$;

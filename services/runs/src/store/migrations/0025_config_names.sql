-- The names of the columns that a config has, for the catalogue of keys.
CREATE FUNCTION runs.config_names(config text) RETURNS SETOF text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  SET search_path = pg_catalog, pg_temp AS $$
  WITH RECURSIVE members (name, value) AS (
    SELECT e.key, e.value FROM json_each(config::json) e
    UNION ALL
    SELECT m.name || '.' || e.key, e.value
    FROM members m CROSS JOIN LATERAL json_each(CASE WHEN json_typeof(m.value) = 'object' THEN m.value ELSE '{}' END) e
  )
  SELECT m.name FROM members m
  WHERE (json_typeof(m.value) <> 'object' OR m.value::text = '{}') AND octet_length(m.name) BETWEEN 1 AND 512
$$;
COMMENT ON FUNCTION runs.config_names IS
  'Returns the keys of a config, nested ones joined by points, but for those whose values are objects with members, and '
  'those that are too long for the name of a column.';
REVOKE ALL ON FUNCTION runs.config_names FROM PUBLIC;
GRANT EXECUTE ON FUNCTION runs.config_names TO tidemark_runs;

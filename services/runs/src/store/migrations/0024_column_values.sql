-- What tables of runs compare: values of configs and attributes as numbers and texts.

CREATE FUNCTION runs.config_value(config text, places text[]) RETURNS json
  LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  place text;
  name text;
  names text[];
  found json;
BEGIN
  FOREACH place IN ARRAY places LOOP
    names := string_to_array(place, chr(1));
    -- A document without the name is not parsed: keys are written as to_json writes them.
    CONTINUE WHEN strpos(config, to_json(names[1])::text || ':') = 0;
    found := config;
    FOREACH name IN ARRAY names LOOP
      found := found -> name;
      EXIT WHEN found IS NULL;
    END LOOP;
    IF found IS NOT NULL THEN
      RETURN found;
    END IF;
  END LOOP;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION runs.config_value IS
  'Returns what a config has at the first of some places that it has; null: at none of them. A place is keys, joined by '
  'the character 1, from the outermost on.';
REVOKE ALL ON FUNCTION runs.config_value FROM PUBLIC;
GRANT EXECUTE ON FUNCTION runs.config_value TO tidemark_runs;

CREATE FUNCTION runs.comparable(value json, OUT num float8, OUT txt text)
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  document text := value;
BEGIN
  CASE coalesce(json_typeof(value), 'null')
    WHEN 'number' THEN
      txt := '';
      IF document ~ '[eE]-?[0-9]{3}' OR length(document) > 300 THEN
        BEGIN
          num := document::float8;
        EXCEPTION WHEN numeric_value_out_of_range THEN
          -- As JSON numbers are read elsewhere: too small is 0, too large infinite.
          num := CASE WHEN document::numeric BETWEEN -1 AND 1 THEN 0.0::float8
                      WHEN document LIKE '-%' THEN '-Infinity' ELSE 'Infinity' END;
        END;
      ELSE
        num := document::float8;
      END IF;
    WHEN 'string' THEN
      num := 'NaN';
      IF strpos(document, '\u') > 0 THEN
        document := regexp_replace(document, '(?<!\\)((?:\\\\)*)\\u(0000|d[89a-fA-F][0-9a-fA-F]{2})', '\1\\ufffd', 'g');
      END IF;
      txt := left(document::json #>> '{}', 512);
    WHEN 'boolean' THEN
      num := 'NaN';
      txt := document;
    ELSE
      NULL;
  END CASE;
END
$$;
COMMENT ON FUNCTION runs.comparable IS
  'Returns what a JSON value compares as: a number with an empty text; a text with NaN, which is above every number, the '
  'first 512 characters of it; true and false as texts. Nothing for null, lists and objects, which have no order.';
REVOKE ALL ON FUNCTION runs.comparable FROM PUBLIC;
GRANT EXECUTE ON FUNCTION runs.comparable TO tidemark_runs;

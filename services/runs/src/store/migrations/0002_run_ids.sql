-- Every run id of the installation. A run id is unique across organizations, and row level security
-- would hide from one organization that another one has it; so ids are taken here, and only through
-- a function that tells nothing but whether the caller got it.
CREATE TABLE runs.run_ids (
  id uuid PRIMARY KEY,
  org_id uuid NOT NULL
);

SELECT platform.fence('runs.run_ids');
SELECT platform.unfence_for('runs.run_ids', 'tidemark_definer');
GRANT INSERT ON runs.run_ids TO tidemark_definer;

-- Takes an id for an organization, in the transaction that creates the run: false when it is taken
-- already, by whomever. Waits for a transaction that is about to take or to give up the same id.
CREATE FUNCTION runs.take_run_id(run uuid, org uuid) RETURNS boolean
  LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $$
  WITH taken AS (
    INSERT INTO runs.run_ids (id, org_id) VALUES (run, org) ON CONFLICT DO NOTHING RETURNING true
  )
  SELECT EXISTS (SELECT FROM taken);
$$;
REVOKE ALL ON FUNCTION runs.take_run_id(uuid, uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION runs.take_run_id(uuid, uuid) TO tidemark_runs;

-- A new owner needs the right to create in the schema, for this moment only.
GRANT CREATE ON SCHEMA runs TO tidemark_definer;
ALTER FUNCTION runs.take_run_id(uuid, uuid) OWNER TO tidemark_definer;
REVOKE CREATE ON SCHEMA runs FROM tidemark_definer;

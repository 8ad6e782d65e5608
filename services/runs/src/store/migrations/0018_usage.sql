-- What an organization has of its plan.
CREATE VIEW runs.usage_v1 WITH (security_invoker = true) AS
  SELECT p.org_id, count(*) AS projects,
         sum(p.runs_running + p.runs_finished + p.runs_failed)::bigint AS runs
  FROM runs.projects p GROUP BY p.org_id;
COMMENT ON VIEW runs.usage_v1 IS 'How many projects and runs an organization has; no row: none.';
GRANT USAGE ON SCHEMA runs TO tidemark_usage;
GRANT SELECT (org_id, runs_running, runs_finished, runs_failed) ON runs.projects TO tidemark_usage;
GRANT SELECT ON runs.usage_v1 TO tidemark_usage;

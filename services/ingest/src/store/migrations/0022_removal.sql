-- Runs, projects and organizations whose time of grace is over are removed, by the role that no request runs as.
GRANT SELECT, DELETE ON ingest.attributes, ingest.log_blocks, ingest.log_segments, ingest.metric_aggregate_pages,
  ingest.metric_blocks, ingest.metric_keys, ingest.metric_runs, ingest.metric_segments, ingest.objects,
  ingest.project_points, ingest.rank_metric_blocks, ingest.rank_metric_keys, ingest.rank_metric_rows,
  ingest.rank_metric_runs, ingest.rank_metric_sets, ingest.rank_points, ingest.restored_objects,
  ingest.sort_key_versions, ingest.sort_keys, ingest.table_chunks, ingest.unindexed_runs, ingest.dirty_markers
  TO tidemark_ingest_worker;
-- A lock of a row takes the right to change it.
GRANT UPDATE (version) ON ingest.metric_runs TO tidemark_ingest_worker;
GRANT UPDATE (points, series) ON ingest.project_points TO tidemark_ingest_worker;
GRANT UPDATE (points) ON ingest.rank_points TO tidemark_ingest_worker;
GRANT EXECUTE ON FUNCTION ingest.has_rank_value TO tidemark_ingest_worker;

-- Removes at most rows_max rows of rank metrics of a run, and takes their values out of the organization's count.
CREATE FUNCTION ingest.remove_rank_rows(org uuid, run uuid, rows_max bigint) RETURNS bigint
  LANGUAGE plpgsql AS $$
DECLARE
  gone bigint;
  gone_values bigint;
BEGIN
  WITH removed AS (
    DELETE FROM ingest.rank_metric_rows r WHERE r.ctid = ANY (ARRAY(
      SELECT o.ctid FROM ingest.rank_metric_rows o WHERE o.org_id = org AND o.run_id = run LIMIT rows_max))
    RETURNING r.arrival, r.first_slot, r.packed
  ), removed_blocks AS (
    DELETE FROM ingest.rank_metric_blocks b WHERE b.ctid = ANY (ARRAY(
      SELECT o.ctid FROM ingest.rank_metric_blocks o WHERE o.org_id = org AND o.run_id = run LIMIT rows_max))
    RETURNING octet_length(b.set_values) / 8 AS value_count
  )
  -- Only pages have slots without a value, and their rows are never in blocks.
  SELECT (SELECT count(*) FROM removed) + (SELECT count(*) FROM removed_blocks),
         coalesce((SELECT sum(CASE WHEN r.arrival = 0 THEN octet_length(r.packed) / 8
                                   ELSE (SELECT count(*) FROM generate_series(r.first_slot, r.first_slot + octet_length(r.packed) / 8 - 1) AS s
                                         WHERE ingest.has_rank_value(r.packed, r.first_slot, s::smallint)) END)
                   FROM removed r), 0)
         + coalesce((SELECT sum(b.value_count) FROM removed_blocks b), 0)
  INTO gone, gone_values;
  UPDATE ingest.rank_points p SET points = p.points - gone_values
  WHERE gone_values > 0 AND p.org_id = org
    AND p.slot = (SELECT o.slot FROM ingest.rank_points o WHERE o.org_id = org ORDER BY o.points DESC LIMIT 1);
  RETURN gone;
END
$$;
COMMENT ON FUNCTION ingest.remove_rank_rows IS
  'Removes at most rows_max rows and as many blocks of rank metrics of a run, and takes their values out of the count '
  'of the organization. Returns how many were removed.';
REVOKE ALL ON FUNCTION ingest.remove_rank_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.remove_rank_rows TO tidemark_ingest_worker;

import type pg from "pg";
import { TRACES } from "./read.ts";

/** Gives organizations as many reports as they have runs, of two blocks and one panel each; a tenth of them belong to one project. Parameters: organizations, runs of each, the project. */
export const seedReports = `
  WITH wanted AS (
    SELECT w.org_id, i, gen_random_uuid() AS id, CASE WHEN i % 10 = 0 THEN $3::uuid END AS project_id
    FROM unnest($1::uuid[], $2::integer[]) AS w (org_id, size), generate_series(1, w.size) i
  ), made AS (
    INSERT INTO reports.reports (org_id, id, project_id, title, visibility, block_count, panel_count, panel_bytes, created_at, updated_at)
    SELECT org_id, id, project_id, 'report ' || i, 'org', 2, 1, 13, now() - i * interval '1 second', now() - i * interval '1 second'
    FROM wanted ORDER BY random()
  ), written AS (
    INSERT INTO reports.documents (org_id, report_id, blocks, panels, panel_indexes)
    SELECT org_id, id, '[]', ARRAY['{"type":"line"}'], ARRAY[0] FROM wanted
  )
  INSERT INTO reports.report_counts (org_id, project_id, reports)
  SELECT org_id, '00000000-0000-0000-0000-000000000000', count(*) FROM wanted GROUP BY org_id
  UNION ALL SELECT org_id, project_id, count(*) FROM wanted WHERE project_id IS NOT NULL GROUP BY org_id, project_id`;

/** Gives organizations as many imports as they have runs, up to 5,000, of two chunks and three runs each. Parameters: organizations, runs of each. */
export const seedImports = `
  WITH wanted AS (
    SELECT w.org_id, i AS id FROM unnest($1::uuid[], $2::integer[]) AS w (org_id, size), generate_series(1, least(w.size, 5000)) i
  ), made AS (
    INSERT INTO imports.jobs (org_id, id, source_type, target_project, schema_version, dedupe_policy, status)
    SELECT org_id, id, 'wandb', 'rl-control', 2, 'skip_existing', 'committed' FROM wanted ORDER BY random()
  ), chunked AS (
    INSERT INTO imports.chunks (org_id, job_id, sequence, chunk_id, content_hash, is_final, runs, metrics, attributes, artifacts, warnings)
    SELECT org_id, id, s, 'chunk-' || s, decode(repeat('00', 32), 'hex'), s = 1, 3, 0, 0, 0, 0 FROM wanted, generate_series(0, 1) s
  )
  INSERT INTO imports.job_runs (org_id, job_id, source_hash, sequence, place, is_rich, outcome, run_id)
  SELECT org_id, id, decode(lpad(to_hex(r), 32, '0'), 'hex'), 0, r, false, 'create', gen_random_uuid() FROM wanted, generate_series(0, 2) r`;

/** Makes `copies` copies of a trace of each organization, which start when the others do. */
export async function copyTraces(owner: pg.Client, orgIds: readonly string[], copies: number): Promise<void> {
  await owner.query(
    `INSERT INTO traces.traces (org_id, trace_id, run_id, project_id, version, segments, started_us, updated_us, status, kinds, min_step,
                                root_name, thread_id, rollout_id, summary)
     SELECT t.org_id, gen_random_uuid(), t.run_id, t.project_id, 1, 1, t.started_us + n, t.updated_us, t.status, t.kinds, t.min_step,
            t.root_name, t.thread_id, t.rollout_id, t.summary
     FROM traces.traces t, generate_series(1, $2::integer / ${TRACES - 1}) n
     WHERE t.org_id = ANY ($1::uuid[]) AND t.kinds = 1`,
    [orgIds, copies],
  );
}

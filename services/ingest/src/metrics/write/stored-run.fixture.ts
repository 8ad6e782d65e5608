import { testSql } from "@tidemark/testkit";
import { expect } from "@jest/globals";

import { columnsOf, type IngestFixture } from "../../ingest.fixture.ts";

/** A write of one value. */
export const pointOf = (runId: string, step = 0, key = "loss", value = 1) => ({
  runId,
  columns: columnsOf([step, { [key]: value }]),
});

const runStates = testSql(`SELECT r.version, r.key_count AS "keyCount", r.point_count AS "pointCount",
          (SELECT count(*) FROM ingest.metric_segments l WHERE l.run_id = r.run_id) AS segments,
          (SELECT count(*) FROM ingest.metric_keys k WHERE k.run_id = r.run_id) AS keys,
          (SELECT coalesce(sum(h.count), 0)::bigint FROM ingest.metric_aggregates_v1 h WHERE h.run_id = r.run_id) AS values
   FROM ingest.metric_runs r WHERE r.run_id = $1`);

/** Returns the stored state of a run's metrics; undefined when there is none. */
export function storedRun(ingest: IngestFixture, runId: string): Promise<Record<string, number> | undefined> {
  return ingest.owner.one<Record<string, number>>(runStates, [runId]);
}

/** Expects that a run is in the state left by a number of writes of one value each. */
export async function expectStored(ingest: IngestFixture, runId: string, writes: number, keys = 1): Promise<void> {
  expect(await storedRun(ingest, runId)).toEqual({
    version: writes,
    keyCount: keys,
    pointCount: writes,
    segments: writes,
    keys,
    values: writes,
  });
}

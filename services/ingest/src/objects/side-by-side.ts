import { badRequest } from "@tidemark/errors";
import {
  OBJECT_KEYS_FOUND_MAX,
  OBJECT_STEPS_READ_MAX,
  OBJECTS_SIDE_BY_SIDE_MAX,
  OBJECTS_SIDE_BY_SIDE_RUNS_MAX,
} from "@tidemark/limits";
import type { Db } from "@tidemark/pg";
import type {
  ListObjectKeysRequestSchema,
  ListObjectKeysResponseSchema,
  ListObjectsAtStepRequestSchema,
  ListObjectsAtStepResponseSchema,
} from "@tidemark/proto/ingest/v1/objects";
import { callerOf, pathId, type Caller, type RunDirectory } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import { mapInTurns } from "@tidemark/work";
import { encodeObject } from "./list-objects.ts";
import { foundKeys } from "./side-by-side.rules.ts";
import { findKeys, readObjectsAtStep, readSteps } from "./side-by-side.sql.ts";

type Deps = { readonly db: Db; readonly runs: RunDirectory };

/**
 * IngestReadService.ListObjectKeys. However many objects there are, at most 50,000 of them are looked at, the same number of each key of each run.
 * @throws not_found, bad_request for too many runs
 */
export function listObjectKeysHandler({
  db,
  runs,
}: Deps): Handler<typeof ListObjectKeysRequestSchema, typeof ListObjectKeysResponseSchema> {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runIds = await requireRuns(runs, caller, request.runIds);
    const keysMax = Math.floor(OBJECT_KEYS_FOUND_MAX / runIds.length);
    return db.readTenant(
      orgId,
      async (tx) => {
        const found = await findKeys(tx, orgId, runIds, keysMax);
        const stepsMax = Math.floor(OBJECT_STEPS_READ_MAX / Math.max(1, found.length));
        const steps = found.length === 0 ? [] : await readSteps(tx, orgId, found, stepsMax);
        return foundKeys(runIds, found, steps, keysMax);
      },
      { plans: "walks" },
    );
  };
}

/** IngestReadService.ListObjectsAtStep. @throws not_found, bad_request for too many runs or keys */
export function listObjectsAtStepHandler({
  db,
  runs,
}: Deps): Handler<typeof ListObjectsAtStepRequestSchema, typeof ListObjectsAtStepResponseSchema> {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runIds = await requireRuns(runs, caller, request.runIds);
    const keys = [...new Set(request.keys)];
    if (keys.length === 0 || runIds.length * keys.length > OBJECTS_SIDE_BY_SIDE_MAX) {
      throw badRequest(
        `keys must have 1 to ${Math.floor(OBJECTS_SIDE_BY_SIDE_MAX / runIds.length)} items here`,
        "keys",
      );
    }
    const step = request.step ?? Number.POSITIVE_INFINITY;
    const rows = await db.readTenant(orgId, (tx) => readObjectsAtStep(tx, orgId, { runIds, keys, step }), {
      plans: "walks",
    });
    return { objects: await mapInTurns(rows, (row) => encodeObject(orgId, row)) };
  };
}

/** @throws not_found, bad_request */
async function requireRuns(runs: RunDirectory, caller: Caller, ids: readonly string[]): Promise<string[]> {
  const runIds = [...new Set(ids.map((id) => pathId(id, "run")))];
  if (runIds.length === 0 || runIds.length > OBJECTS_SIDE_BY_SIDE_RUNS_MAX) {
    throw badRequest(`run_ids must have 1 to ${OBJECTS_SIDE_BY_SIDE_RUNS_MAX} items`, "run_ids");
  }
  await runs.require(caller, runIds);
  return runIds;
}

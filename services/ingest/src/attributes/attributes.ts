import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ChangePublisher } from "@tidemark/bus";
import { badRequest, type AppError } from "@tidemark/errors";
import { isAnswered, type Db } from "@tidemark/pg";
import { admitWithin, callerOf, pathId, throwFault, type PlanGate, type RunDirectory } from "@tidemark/requests";
import { LINE_BYTES } from "@tidemark/limits";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import type {
  AppendAttributesRequestSchema,
  AppendAttributesResponseSchema,
  AttributeInput,
  AttributeSchema,
  ListAttributesRequestSchema,
  ListAttributesResponseSchema,
} from "@tidemark/proto/ingest/v1/ingest";
import type { Handler } from "@tidemark/rpc";
import { mapInTurns } from "@tidemark/work";
import type { DirtyMarkers } from "../compaction/dirty-markers.rules.ts";
import type { LogStream } from "../logs/log-page.rules.ts";
import { refuseHeavyPage } from "../reads/page-weight.rules.ts";
import type { IdSource } from "../writes/writes.rules.ts";
import { highestStep } from "../writes/write-steps.ts";
import {
  appendAttributes,
  appendAttributesOnce,
  listAttributes,
  type AttributeOutcome,
  type AttributeRecord,
  type AttributeRow,
} from "./attributes.sql.ts";
import { findCapturedLines, type FoundLines } from "./captured-lines.rules.ts";

const ROUTE = "POST /api/runs/{run_id}/attributes";

/** IngestService.AppendAttributes. @throws not_found, bad_request, plan_limit_exceeded, idempotency_key_reused, idempotency_in_progress */
export function appendAttributesHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
  readonly ids: IdSource;
  readonly logMarkers: DirtyMarkers;
  readonly storageGate: PlanGate;
  readonly noteChange: ChangePublisher["note"];
}): Handler<typeof AppendAttributesRequestSchema, typeof AppendAttributesResponseSchema> {
  const { db, runs, ids, logMarkers, noteChange } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const runId = pathId(request.runId, "run");
    const projectId = await runs.projectOf(caller, runId);
    throwFault(request.bodyFault);
    if (request.attributes.length === 0) return { attributes: [] };
    const rows = await mapInTurns(request.attributes, rowOf);
    const found = findCapturedLines(rows);
    const { idempotencyKey: key } = request;
    const admitted = admitWithin(deps.storageGate, caller, storedBytesOf(rows, found), () =>
      isAnswered(db, caller.orgId, key),
    );
    if (admitted !== undefined) await admitted;
    const marker = (stream: LogStream): number | null => {
      const { lines, bytes } = found!.sizes[stream];
      return lines === 0 ? null : logMarkers.next(`${runId}/${stream}`, bytes);
    };
    const captured = found && {
      ...found,
      markerSeconds: { stdout: marker("stdout"), stderr: marker("stderr") },
    };
    const write = { orgId: caller.orgId, runId, projectId, takeIds: ids.take, attributes: rows, captured };
    const forget = (): void => {
      for (const stream of new Set(found?.streams)) if (stream !== null) logMarkers.forget(`${runId}/${stream}`);
    };
    const stored = await storedOr(forget, async () =>
      key === ""
        ? appendAttributes(db, write)
        : appendAttributesOnce(db, write, { key, route: ROUTE, parts: [runId, await jsonInTurns(rows)] }),
    );
    if (stored === "replayed") return { attributes: [] };
    if (stored.outcome === "no_artifact") throw noArtifact(stored.place - 1);
    const { firstId, createdAt, highestLine } = stored;
    const changed = { orgId: caller.orgId, projectId, runId };
    if (highestLine !== null) noteChange({ ...changed, kind: ChangeKind.LINES, line: highestLine });
    noteChange({
      ...changed,
      kind: ChangeKind.OBJECTS,
      keys: [...new Set(rows.map(({ path }) => path))],
      step: highestStep(rows.map(({ step }) => step)),
    });
    return {
      attributes: await mapInTurns(rows, (row, i) =>
        encodeAttribute(caller.orgId, runId, {
          ...row,
          id: firstId + i,
          step: row.step ?? null,
          loggedAt: row.loggedAt || createdAt,
          artifactId: row.artifactId || null,
          createdAt,
        }),
      ),
    };
  };
}

/** Returns the logical bytes of attributes, and of the console lines stored from them. */
function storedBytesOf(rows: readonly AttributeRow[], found: FoundLines | undefined): number {
  const bytes = rows.reduce(
    (sum, { path, valueJson, summaryJson }) =>
      sum + Buffer.byteLength(path) + Buffer.byteLength(valueJson) + Buffer.byteLength(summaryJson),
    0,
  );
  if (found === undefined) return bytes;
  const { stdout, stderr } = found.sizes;
  return bytes + stdout.bytes + stderr.bytes + LINE_BYTES * (stdout.lines + stderr.lines);
}

/** IngestReadService.ListAttributes. @throws not_found, then bad_request, also when this many have more than 16 MiB together */
export function listAttributesHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): Handler<typeof ListAttributesRequestSchema, typeof ListAttributesResponseSchema> {
  const { db, runs } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const runId = pathId(request.runId, "run");
    await runs.require(caller, [runId]);
    throwFault(request.queryFault);
    const { orgId } = caller;
    const { type, pathPrefix, limit, offset } = request;
    const query = { orgId, runId, type, pathPrefix, limit, offset };
    const records = await db.readTenant(orgId, (tx) => listAttributes(tx, query), { plans: "walks" });
    refuseHeavyPage(
      records.map(({ bytes }) => bytes),
      "attributes",
    );
    return { attributes: await mapInTurns(records, (record) => encodeAttribute(orgId, runId, record)) };
  };
}

/** Writes rows as `JSON.stringify` does. */
async function jsonInTurns(rows: readonly AttributeRow[]): Promise<string> {
  const texts = await mapInTurns(rows, (row) => JSON.stringify(row));
  return `[${texts.join(",")}]`;
}

/** Writes, and takes back the decisions about dirty markers when nothing is stored. */
async function storedOr<T extends AttributeOutcome | "replayed">(
  forget: () => void,
  write: () => Promise<T>,
): Promise<T> {
  try {
    const stored = await write();
    if (stored === "replayed" || stored.outcome !== "inserted") forget();
    return stored;
  } catch (error) {
    forget();
    throw error;
  }
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();

function rowOf(input: AttributeInput): AttributeRow {
  return {
    path: input.path,
    type: input.type,
    step: input.step,
    loggedAt: input.loggedAt,
    valueJson: decoder.decode(input.valueJson),
    summaryJson: decoder.decode(input.summaryJson),
    artifactId: input.artifactId,
  };
}

/** The list of the body and the index in it: only list items have artifacts. */
function noArtifact(index: number): AppError {
  return badRequest(`attributes[${index}]: artifact_id must be an artifact of the same run`, "attributes");
}

/** Encodes an attribute. */
export function encodeAttribute(
  orgId: string,
  runId: string,
  record: AttributeRecord,
): MessageInitShape<typeof AttributeSchema> {
  return {
    id: record.id,
    orgId,
    runId,
    path: record.path,
    type: record.type,
    ...(record.step === null ? {} : { step: record.step }),
    loggedAt: record.loggedAt,
    valueJson: encoder.encode(record.valueJson),
    summaryJson: encoder.encode(record.summaryJson),
    artifactId: record.artifactId ?? "",
    createdAt: record.createdAt,
  };
}

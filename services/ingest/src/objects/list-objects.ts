import { OBJECT_KINDS, OBJECTS_PAGE_ROWS } from "@tidemark/limits";
import type { Db } from "@tidemark/pg";
import type {
  ListObjectsRequestSchema,
  ListObjectsResponseSchema,
  RichObjectSchema,
} from "@tidemark/proto/ingest/v1/objects";
import { callerOf, pathId, requireLimit, throwFault, type RunDirectory } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import { mapInTurns } from "@tidemark/work";
import { refuseHeavyPage } from "../reads/page-weight.rules.ts";
import { readObjects, weighObjects, type ObjectRow } from "./objects.sql.ts";
import type { MessageInitShape } from "@bufbuild/protobuf";

/** IngestReadService.ListObjects. @throws not_found, then bad_request, also when this many have more than 16 MiB together */
export function listObjectsHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): Handler<typeof ListObjectsRequestSchema, typeof ListObjectsResponseSchema> {
  const { db, runs } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runId = pathId(request.runId, "run");
    await runs.require(caller, [runId]);
    throwFault(request.queryFault);
    const { kind, key, offset } = request;
    const limit = requireLimit(request.limit, OBJECTS_PAGE_ROWS.max);
    const kinds = kind === "" ? OBJECT_KINDS : [kind];
    const rows = await db.readTenant(
      orgId,
      async (tx) => {
        const page = await weighObjects(tx, { orgId, runId, kinds, key, limit, offset });
        refuseHeavyPage(
          page.map(({ bytes }) => bytes),
          "objects",
        );
        return page.length === 0
          ? []
          : readObjects(
              tx,
              orgId,
              page.map(({ id }) => id),
            );
      },
      { plans: "walks" },
    );
    return { objects: await mapInTurns(rows, (row) => encodeObject(orgId, row)) };
  };
}

const utf8 = new TextEncoder();

/** Encodes an object with the artifact that it links to. */
export function encodeObject(orgId: string, row: ObjectRow): MessageInitShape<typeof RichObjectSchema> {
  return { ...encodeStoredObject(orgId, row), artifact: linkOf(row) };
}

/** Encodes a stored object, with only the id of its artifact. */
export function encodeStoredObject(
  orgId: string,
  row: Pick<
    ObjectRow,
    "id" | "runId" | "key" | "kind" | "step" | "valueJson" | "metadataJson" | "summaryJson" | "artifactId" | "createdAt"
  >,
) {
  return {
    id: row.id,
    orgId,
    runId: row.runId,
    key: row.key,
    kind: row.kind,
    step: row.step ?? undefined,
    valueJson: utf8.encode(row.valueJson ?? ""),
    metadataJson: utf8.encode(row.metadataJson),
    summaryJson: utf8.encode(row.summaryJson),
    artifactId: row.artifactId ?? "",
    createdAt: row.createdAt,
  };
}

function linkOf(row: ObjectRow): MessageInitShape<typeof RichObjectSchema>["artifact"] {
  if (row.artifactId === null || row.artifactName === null) return undefined;
  return {
    id: row.artifactId,
    name: row.artifactName,
    uri: row.artifactUri,
    mimeType: row.mimeType,
    sizeBytes: row.sizeBytes ?? undefined,
    storageBackend: row.storageBackend,
  };
}

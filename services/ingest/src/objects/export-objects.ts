import { OBJECT_KINDS } from "@tidemark/limits";
import { streamPages, type Db, type ReadPage } from "@tidemark/pg";
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  ObjectParts,
  type ExportObjectsRequestSchema,
  type ExportObjectsResponseSchema,
} from "@tidemark/proto/ingest/v1/archive";
import { exportedRuns, type RunDirectory } from "@tidemark/requests";
import type { StreamHandler } from "@tidemark/rpc";
import { createPauses } from "@tidemark/work";
import { unpackChunk } from "./table-pack.ts";
import { encodeStoredObject } from "./list-objects.ts";
import {
  findObjectKinds,
  readObjectsOfKind,
  readTablesOfRun,
  readTableChunksFrom,
  type StoredObject,
} from "./exported-objects.sql.ts";

type Message = MessageInitShape<typeof ExportObjectsResponseSchema>;

/** IngestArchiveService.ExportObjects. @throws bad_request, not_found */
export function exportObjectsHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): StreamHandler<typeof ExportObjectsRequestSchema, typeof ExportObjectsResponseSchema> {
  return async function* (request, call) {
    const { orgId, runIds } = await exportedRuns(deps.runs, request.runIds, call);
    const { parts } = request;
    const kinds = parts === ObjectParts.TABLE_ROWS ? ["table"] : OBJECT_KINDS;
    yield* streamPages(deps.db, orgId, request.byPage, async function* (read) {
      for (const { runId, kind } of await read((tx) => findObjectKinds(tx, orgId, runIds, kinds))) {
        const pages =
          parts === ObjectParts.TABLE_ROWS
            ? readTablesOfRun(read, orgId, runId)
            : readObjectsOfKind(read, orgId, runId, kind);
        for await (const objects of pages) {
          if (kind === "table" && parts !== ObjectParts.OBJECTS) yield* withRows(read, orgId, objects);
          else for (const object of objects) yield objectMessage(orgId, object);
        }
      }
    });
  };
}

function objectMessage(orgId: string, object: StoredObject): Message {
  return { rows: { case: "object", value: encodeStoredObject(orgId, object) } };
}

/** Yields tables, each followed by its chunks. */
async function* withRows(
  read: ReadPage,
  orgId: string,
  tables: readonly StoredObject[],
): AsyncGenerator<Message, void, undefined> {
  const pauseIfLong = createPauses();
  let yielded = 0;
  const until = function* (end: number): Generator<Message, void, undefined> {
    for (; yielded < end; yielded++) yield objectMessage(orgId, tables[yielded]!);
  };
  for await (const { id, rows } of readTableChunksFrom(
    read,
    orgId,
    tables.map((table) => table.id),
  )) {
    yield* until(tables.findIndex((table) => table.id === id) + 1);
    const pause = pauseIfLong();
    if (pause !== undefined) await pause;
    yield { rows: { case: "tableRows", value: unpackChunk(rows) } };
  }
  yield* until(tables.length);
}

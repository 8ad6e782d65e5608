import { create } from "@bufbuild/protobuf";
import { ObjectParts, type ExportObjectsResponse } from "@tidemark/proto/ingest/v1/archive";
import { AttributeSchema, type Attribute } from "@tidemark/proto/ingest/v1/ingest";
import type { RichObject } from "@tidemark/proto/ingest/v1/objects";
import { mapInTurns } from "@tidemark/work";
import { hidePrivateUris } from "./private-uris.rules.ts";
import type { Part, PlannedRun, Reading } from "./reading.ts";

/** Reads attributes and objects of runs: for each run first its attributes by step and id, then its objects by kind, step and age. */
export async function* exportAttributes(
  reading: Reading,
  runs: readonly PlannedRun[],
  orgId: string,
): AsyncGenerator<Part> {
  const { allowance } = reading;
  for (const run of runs) {
    for await (const rows of pagesOf(reading, run)) {
      const taken = allowance.take(rows);
      if (taken.length > 0) {
        const attributes = await mapInTurns(taken, (attribute) => publicAttribute(attribute, orgId));
        yield { case: "attributes", value: { attributes } };
      }
      if (allowance.isExceeded()) return;
    }
  }
}

async function* pagesOf({ clients, call }: Reading, { runId, hasAttributes, objectKinds }: PlannedRun) {
  const of = { runIds: [runId], byPage: true };
  if (hasAttributes) {
    for await (const { attributes } of clients.ingestArchive.exportAttributes(of, call)) yield attributes;
  }
  if (objectKinds.length > 0) {
    yield* objectPages(clients.ingestArchive.exportObjects({ ...of, parts: ObjectParts.OBJECTS }, call));
  }
}

/** Objects that are passed on together, by number and by bytes of their values. */
const TOGETHER = { objects: 500, bytes: 1024 * 1024 };

async function* objectPages(messages: AsyncIterable<ExportObjectsResponse>) {
  let page: Attribute[] = [];
  let bytes = 0;
  for await (const { rows } of messages) {
    if (rows.case !== "object") continue;
    page.push(attributeOf(rows.value));
    bytes += rows.value.valueJson.length + rows.value.summaryJson.length;
    if (page.length < TOGETHER.objects && bytes < TOGETHER.bytes) continue;
    yield page;
    page = [];
    bytes = 0;
  }
  yield page;
}

/** Returns an object as an attribute: the rows of tables name it by this id. */
function attributeOf(object: RichObject): Attribute {
  const { id, orgId, runId, key, kind, step, valueJson, summaryJson, artifactId, createdAt } = object;
  return create(AttributeSchema, {
    id,
    orgId,
    runId,
    path: key,
    type: kind,
    ...(step === undefined ? {} : { step }),
    loggedAt: createdAt,
    valueJson,
    summaryJson,
    artifactId,
    createdAt,
  });
}

function publicAttribute(attribute: Attribute, orgId: string): Attribute {
  const { valueJson, summaryJson, artifactId } = attribute;
  attribute.valueJson = hidePrivateUris(valueJson, orgId, artifactId);
  attribute.summaryJson = hidePrivateUris(summaryJson, orgId, artifactId);
  return attribute;
}

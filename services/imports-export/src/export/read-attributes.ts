import { create } from "@bufbuild/protobuf";
import { ATTRIBUTES_PAGE_ROWS, OBJECTS_PAGE_ROWS } from "@tidemark/limits";
import { AttributeSchema, type Attribute } from "@tidemark/proto/ingest/v1/ingest";
import type { RichObject } from "@tidemark/proto/ingest/v1/objects";
import { mapInTurns } from "@tidemark/turns";
import type { PlannedRun } from "./export-plan.ts";
import { hidePrivateUris } from "./private-uris.rules.ts";
import type { Part, Reading } from "./reading.ts";

/** Reads attributes and objects of runs: for each run first its attributes by step and id, then its objects by kind, step and age. */
export async function* exportAttributes(
  reading: Reading,
  runs: readonly PlannedRun[],
  orgId: string,
): AsyncGenerator<Part> {
  const { allowance } = reading;
  for (const { runId, hasAttributes, objectKinds } of runs) {
    if (hasAttributes) yield* pages(reading, orgId, (cursor, limit) => attributesOf(reading, runId, cursor, limit));
    for (const kind of objectKinds) {
      if (allowance.isExceeded()) return;
      yield* pages(reading, orgId, (cursor, limit) => objectsOf(reading, { runId, kind }, cursor, limit));
    }
    if (allowance.isExceeded()) return;
  }
}

type Page = { readonly rows: readonly Attribute[]; readonly nextCursor: string };

/** Reads a list page by page, one row more than is left, so that omitted rows are noticed. */
async function* pages(
  { allowance }: Reading,
  orgId: string,
  read: (cursor: string, limit: number) => Promise<Page>,
): AsyncGenerator<Part> {
  let cursor = "";
  do {
    const { rows, nextCursor } = await read(cursor, allowance.left() + 1);
    const taken = allowance.take(rows);
    if (taken.length > 0) {
      const attributes = await mapInTurns(taken, (attribute) => publicAttribute(attribute, orgId));
      yield { case: "attributes", value: { attributes } };
    }
    cursor = nextCursor;
  } while (cursor !== "" && !allowance.isExceeded());
}

async function attributesOf({ clients, newCall }: Reading, runId: string, cursor: string, left: number): Promise<Page> {
  const limit = Math.min(left, ATTRIBUTES_PAGE_ROWS.max);
  const { attributes, nextCursor } = await clients.ingestRead.pageAttributes({ runId, limit, cursor }, newCall());
  return { rows: attributes, nextCursor };
}

async function objectsOf(
  { clients, newCall }: Reading,
  of: { readonly runId: string; readonly kind: string },
  cursor: string,
  left: number,
): Promise<Page> {
  const limit = Math.min(left, OBJECTS_PAGE_ROWS.max);
  const { objects, nextCursor } = await clients.ingestRead.pageObjects({ ...of, limit, cursor }, newCall());
  return { rows: objects.map(attributeOf), nextCursor };
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

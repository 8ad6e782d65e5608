import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { ObjectParts } from "@tidemark/proto/ingest/v1/archive";
import { callOf, startIngest, type IngestFixture, type Tenant } from "../ingest.fixture.ts";
import { chunkOf, tableOf } from "./objects.fixture.ts";

let ingest: IngestFixture;
let tenant: Tenant;
let runId: string;
beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
});
afterAll(() => ingest.close());
beforeEach(async () => {
  runId = await ingest.newRun(tenant);
});

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const histogram = { bins: [1, 2], counts: [3] };
const addTable = async (key: string, rows: readonly number[], more = {}) => {
  const table = tableOf(runId, { key, chunks: rows.map((count) => chunkOf(count)), ...more });
  return (await ingest.write.createObject(table, callOf(tenant))).object!;
};
/** Returns the keys of objects and the numbers of rows of chunks, in the order in which they arrive. */
const exported = async (byPage: boolean, parts: ObjectParts) => {
  const messages = await Array.fromAsync(
    ingest.archive.exportObjects({ runIds: [runId], byPage, parts }, callOf(tenant)),
  );
  return messages.map(({ rows }) => (rows.case === "object" ? rows.value.key : (rows.value?.rowCount ?? -1)));
};

describe.each([
  ["of one moment", false],
  ["by page", true],
])("exported objects, %s,", (_, byPage) => {
  test("are sorted by kind and step, those without a step first, tables with their rows, and no attributes", async () => {
    await addTable("two", [100, 3], { step: 2 });
    await addTable("none", []);
    await addTable("one", [5], { step: 1 });
    await addTable("one again", [], { step: 1 });
    const attributes = [{ path: "h", type: "histogram_series", valueJson: json(histogram), summaryJson: json({}) }];
    await ingest.write.appendAttributes({ runId, attributes }, callOf(tenant));
    await addTable("own", [], { kind: "histogram", valueJson: json(histogram), chunks: [] });
    const tables = ["none", "one", 5, "one again", "two", 100, 3];
    expect((await exported(byPage, ObjectParts.UNSPECIFIED)).toSorted(bySort)).toEqual(
      [...tables, "own"].toSorted(bySort),
    );
    expect((await exported(byPage, ObjectParts.UNSPECIFIED)).filter((item) => item !== "own")).toEqual(tables);
    expect(await exported(byPage, ObjectParts.TABLE_ROWS)).toEqual(tables);
    const objects = await exported(byPage, ObjectParts.OBJECTS);
    expect(objects.filter((item) => item !== "own")).toEqual(tables.filter((item) => typeof item === "string"));
  });

  test("continue within a table after a mebibyte of stored rows", async () => {
    const random = Array.from({ length: 100 }, () => `"${randomText(15_000)}"\n`).join("");
    const heavy = chunkOf(100, { columns: [Buffer.from(random)] });
    await addTable("heavy", [], { chunks: [heavy, heavy, heavy] });
    await addTable("light", [1]);
    expect(await exported(byPage, ObjectParts.TABLE_ROWS)).toEqual(["heavy", 100, 100, 100, "light", 1]);
  });

  test("continue after 256 tables and 50 objects", async () => {
    for (let i = 0; i < 260; i++) await addTable(`t${i}`, [1], { step: i });
    const names = Array.from({ length: 260 }, (__, i) => [`t${i}`, 1]).flat();
    expect(await exported(byPage, ObjectParts.TABLE_ROWS)).toEqual(names);
    expect(await exported(byPage, ObjectParts.UNSPECIFIED)).toEqual(names);
  });
});

test("tables of which only the rows are wanted have no documents", async () => {
  const table = await addTable("t", [1]);
  const request = { runIds: [runId], parts: ObjectParts.TABLE_ROWS };
  const [first] = await Array.fromAsync(ingest.archive.exportObjects(request, callOf(tenant)));
  expect(first!.rows.value).toMatchObject({ id: table.id, createdAt: table.createdAt, valueJson: new Uint8Array() });
});

const bySort = (a: string | number, b: string | number): number => String(a).localeCompare(String(b));

/** Text that compression does not shorten by much. */
function randomText(length: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array((length * 3) / 4))).toString("base64");
}

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { callOf, startIngest, type IngestFixture, type Tenant } from "../ingest.fixture.ts";

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
const attribute = (path: string, step?: number, value: unknown = 1) => ({
  path,
  type: "config",
  ...(step === undefined ? {} : { step }),
  valueJson: json(value),
  summaryJson: json({}),
});
const addAttributes = (attributes: ReturnType<typeof attribute>[]) =>
  ingest.write.appendAttributes({ runId, attributes }, callOf(tenant));
const exported = async (byPage: boolean, runIds = [runId]) =>
  (await Array.fromAsync(ingest.archive.exportAttributes({ runIds, byPage }, callOf(tenant)))).map(
    ({ attributes }) => attributes,
  );

describe.each([
  ["of one moment", false],
  ["by page", true],
])("exported attributes, %s,", (_, byPage) => {
  test("are all of them, once, in the order of the list", async () => {
    await addAttributes([attribute("s", 2), attribute("a"), attribute("s", 1), attribute("b"), attribute("t", 1)]);
    await addAttributes([attribute("c"), attribute("s", 0)]);
    const listed = await ingest.read.listAttributes({ runId, limit: 100 }, callOf(tenant));
    const empty = await ingest.newRun(tenant);
    expect((await exported(byPage, [empty, runId])).flat()).toEqual(listed.attributes);
  });

  test("continue after 1,000, with a step and without", async () => {
    const many = (step?: number) => Array.from({ length: 1001 }, (__, i) => attribute(`p${i}`, step));
    await addAttributes(many());
    await addAttributes(many(7));
    const pages = await exported(byPage);
    expect(pages.map((page) => page.length)).toEqual([1000, 1, 1000, 1]);
    expect(pages.flat().map(({ path, step }) => [path, step])).toEqual(
      [...many(), ...many(7)].map(({ path, step }) => [path, step]),
    );
  });

  test("are sent about 4 MiB, and at least one, at a time", async () => {
    const large = "x".repeat(3 * 1024 * 1024);
    for (const path of ["a", "b", "c"]) await addAttributes([attribute(path, undefined, large)]);
    const paths = (await exported(byPage)).map((page) => page.map(({ path }) => path));
    expect(paths).toEqual([["a", "b"], ["c"]]);
  });
});

test("no transaction is open between pages unless all are of one moment", async () => {
  for (const byPage of [true, false]) {
    await addAttributes(Array.from({ length: 1001 }, (_, i) => attribute(`p${i}`)));
    const pages = ingest.archive.exportAttributes({ runIds: [runId], byPage }, callOf(tenant));
    await pages.next();
    await addAttributes([attribute(`late ${byPage}`, 1)]);
    const left = (await Array.fromAsync(pages)).flatMap(({ attributes }) => attributes.map(({ path }) => path));
    expect(left.includes(`late ${byPage}`)).toBe(byPage);
  }
});

import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { callOf, json, startArtifacts, type ArtifactsFixture, type Tenant } from "../artifacts.fixture.ts";

let fixture: ArtifactsFixture;
let tenant: Tenant;
let runId: string;
beforeAll(async () => {
  fixture = await startArtifacts();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  tenant = await fixture.newTenant();
  runId = await fixture.newRun(tenant);
});

const add = (name: string, metadata: object = {}) => {
  const artifact = { name, type: "file", mimeType: "text/plain", metadataJson: json(JSON.stringify(metadata)) };
  return fixture.client.createArtifact({ runId, artifact, uri: "s3://b/x" }, callOf(tenant));
};

async function pages(limit: number): Promise<string[][]> {
  const names: string[][] = [];
  let cursor = "";
  do {
    const page = await fixture.client.pageArtifacts({ runId, limit, cursor }, callOf(tenant));
    names.push(page.artifacts.map(({ name }) => name));
    cursor = page.nextCursor;
  } while (cursor !== "");
  return names;
}

test("pages hold all artifacts of a run, newest first", async () => {
  for (const name of ["a", "b", "c", "d"]) await add(name);
  expect(await pages(3)).toEqual([["d", "c", "b"], ["a"]]);
  expect(await pages(4)).toEqual([["d", "c", "b", "a"]]);
});

test("a page ends after 4 MiB of texts, and holds at least one", async () => {
  for (const name of ["a", "b"]) await add(name, { x: "x".repeat(3_000_000) });
  expect(await pages(10)).toEqual([["b"], ["a"]]);
});

test("a run without artifacts has one empty page", async () => {
  expect(await pages(10)).toEqual([[]]);
});

test("artifacts are counted run by run", async () => {
  const empty = await fixture.newRun(tenant);
  for (const name of ["a", "b"]) await add(name);
  const count = (runIds: string[], call = callOf(tenant)) => fixture.client.countArtifacts({ runIds }, call);
  expect((await count([empty, runId])).counts).toEqual([0, 2]);
  const other = callOf(await fixture.newTenant());
  await expect(count([runId], other)).rejects.toMatchObject({ reason: "not_found" });
  await expect(fixture.client.pageArtifacts({ runId, limit: 1 }, other)).rejects.toMatchObject({ reason: "not_found" });
});

test("a cursor of something else is refused", async () => {
  const ask = fixture.client.pageArtifacts({ runId, limit: 1, cursor: "W10" }, callOf(tenant));
  await expect(ask).rejects.toMatchObject({ reason: "bad_request", field: "cursor" });
});

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

const exported = async (byPage: boolean) => {
  const messages = await Array.fromAsync(fixture.archive.exportArtifacts({ runIds: [runId], byPage }, callOf(tenant)));
  return messages.map(({ artifacts }) => artifacts.map(({ name }) => name));
};

test("artifacts of one moment are sorted oldest first, by page newest first", async () => {
  for (const name of ["a", "b", "c", "d"]) await add(name);
  expect(await exported(false)).toEqual([["a", "b", "c", "d"]]);
  expect(await exported(true)).toEqual([["d", "c", "b", "a"]]);
});

test("an export continues after 200 artifacts", async () => {
  const names = Array.from({ length: 201 }, (_, i) => `n${i}`);
  for (const name of names) await add(name);
  expect((await exported(false)).flat()).toEqual(names);
  expect((await exported(true)).map((page) => page.length)).toEqual([200, 1]);
  expect((await exported(true)).flat()).toEqual(names.toReversed());
});

test("a run without artifacts exports none", async () => {
  expect(await exported(true)).toEqual([]);
});

test("artifacts are counted run by run", async () => {
  const empty = await fixture.newRun(tenant);
  for (const name of ["a", "b"]) await add(name);
  const count = (runIds: string[], call = callOf(tenant)) => fixture.client.countArtifacts({ runIds }, call);
  expect((await count([empty, runId])).counts).toEqual([0, 2]);
  const other = callOf(await fixture.newTenant());
  await expect(count([runId], other)).rejects.toMatchObject({ reason: "not_found" });
  const foreign = Array.fromAsync(fixture.archive.exportArtifacts({ runIds: [runId], byPage: true }, other));
  await expect(foreign).rejects.toMatchObject({ reason: "not_found" });
});

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ModelsService } from "@tidemark/proto/artifacts/v1/models";
import { RegistryService } from "@tidemark/proto/artifacts/v1/registry";
import { createLocalClient, implement } from "@tidemark/rpc";
import { createReadCounter } from "@tidemark/testkit";
import { type ArtifactsClient, type ArtifactsFixture, callOf, startArtifacts } from "./artifacts.fixture.ts";
import { modelsHandlers, registryHandlers } from "./handlers.ts";
import { seedSkewed, type Skewed } from "./skewed.fixture.ts";
import { findVersionByDigest } from "./uploads/uploads.sql.ts";

// What a request reads depends on what it answers, not on the size of the organization: one has 20,000 runs, artifacts, collections and versions here,
// a thousand others have 1 to 10. Blocks count each time they are fetched: a row by an index takes three or four, a new row a few in every index.

const SIZE = 20_000;
/** More calls than PostgreSQL plans a prepared statement for its values. */
const TIMES = 7;
const page = { limit: 100 };

const counter = createReadCounter();
let fixture: ArtifactsFixture;
let client: ArtifactsClient;
const models = () => createLocalClient(ModelsService, implement(ModelsService, modelsHandlers(counted())));
const registry = () => createLocalClient(RegistryService, implement(RegistryService, registryHandlers(counted())));
const counted = () => ({ ...fixture.deps, db: counter.around(fixture.db) });
let large: Skewed;
const call = () => callOf(large);

beforeAll(async () => {
  fixture = await startArtifacts();
  client = fixture.newProcess({ db: counter.around(fixture.db) });
  large = await seedSkewed(fixture, { organizations: 1000, size: SIZE });
});
afterAll(() => fixture.close());

const artifact = { name: "n", type: "file", mimeType: "m" };
let made: string[] = [];
const named = (name: string) => ({ of: "field", key: "name", operator: "=", texts: [name] });

/** The name of a request, how many blocks it may fetch, and the request. */
const cases: [what: string, blocksMax: number, ask: () => Promise<unknown>][] = [
  ["100 artifacts of a run", 850, () => client.listArtifacts({ runId: large.runId }, call())],
  ["100 files of a folder", 850, () => client.listFolder({ runId: large.runId, limit: 100 }, call())],
  [
    "a file that is not there",
    10,
    () => client.locateFile({ runId: large.runId, name: "none" }, call()).catch(() => {}),
  ],
  [
    "a file that is replaced",
    200,
    async () => {
      const object = await fixture.written(large);
      await client.storeArtifact(
        { runId: large.runId, artifact: { ...artifact, name: "replaced" }, object, replace: true },
        call(),
      );
    },
  ],
  ["files that are not there, deleted", 20, () => client.deleteFiles({ runId: large.runId, path: "none" }, call())],
  [
    "an artifact that is not there",
    10,
    () => client.locateArtifact({ artifactId: randomUUID() }, call()).catch(() => {}),
  ],
  [
    "a new artifact",
    80,
    async () => {
      const answer = await client.createArtifact({ runId: large.runId, artifact, uri: "u" }, call());
      made.push(answer.artifact!.id);
    },
  ],
  ["an artifact that is deleted", 60, () => client.deleteArtifact({ artifactId: made.pop()! }, call())],
  ["100 collections", 4000, () => client.listCollections({ page }, call())],
  [
    "100 collections of a project, which are counted",
    4000 + SIZE,
    () => client.listCollections({ page, projectId: large.projectId }, call()),
  ],
  ["a collection", 80, () => client.getCollection({ collectionId: large.collectionId }, call())],
  ["100 versions", 3500, () => client.listVersions({ collectionId: large.collectionId, page }, call())],
  ["a version", 40, () => client.getVersion({ versionId: large.versionId }, call())],
  ["the latest version of a name", 60, () => client.resolveVersion({ ref: "c1" }, call())],
  ["a version by its index", 60, () => client.resolveVersion({ ref: "model/c1:v777" }, call())],
  ["a version by an alias", 60, () => client.resolveVersion({ ref: "p/model/c1:alias-1" }, call())],
  // The entries are counted: at most 1,000.
  ["100 entries", 1500, () => client.listEntries({ versionId: large.versionId, page }, call())],
  ["200 runs of a version", 3500, () => client.getVersionLineage({ versionId: large.versionId }, call())],
  // A fourth hop reads the versions of 200 runs: none.
  [
    "a graph of a version that many used",
    6000,
    () => client.getLineageGraph({ versionId: large.versionId, limit: 100 }, call()),
  ],
  ["an input", 150, () => client.addInput({ runId: large.runId, versionId: large.versionId }, call())],
  [
    "an alias that moves",
    200,
    () =>
      client.setAlias(
        { collectionId: large.collectionId, versionId: large.versionId, alias: "best", confirm: "best", reason: "r" },
        call(),
      ),
  ],
  [
    "a retention",
    120,
    () => client.setRetention({ versionId: large.versionId, confirm: large.versionId, reason: "r" }, call()),
  ],
  [
    "a version by its manifest",
    20,
    () =>
      counter
        .around(fixture.db)
        .withTenant(large.orgId, (tx) => findVersionByDigest(tx, large.orgId, large.collectionId, "ab".repeat(32))),
  ],
  [
    "a version that is deleted",
    400,
    async () => {
      const [row] = await fixture.ask<{ id: string }>(
        "SELECT id FROM artifacts.versions WHERE collection_id = $1 AND state = 'active' AND version_index % 2 = 1 LIMIT 1",
        large.collectionId,
      );
      const { id } = row!;
      await client.deleteVersion({ versionId: id, confirm: id, reason: "r" }, call());
    },
  ],
  ["a model", 60, () => models().getModel({ modelId: large.versionId }, call())],
  ["the 100 newest models", 1500, () => models().searchModels({ projectIds: [large.projectId], limit: 100 }, call())],
  [
    "models of a name",
    60,
    () => models().searchModels({ projectIds: [large.projectId], conditions: [named("m777")], limit: 100 }, call()),
  ],
  ["a registered model of many versions", 150, () => registry().getRegisteredModel({ name: "m1" }, call())],
  [
    "a version by its number",
    60,
    () => registry().getRegisteredVersion({ name: "m1", which: { case: "number", value: 777 } }, call()),
  ],
  ["100 registered models", 4500, () => registry().searchRegisteredModels({ limit: 100 }, call())],
  ["100 registered versions", 2500, () => registry().searchRegisteredVersions({ limit: 100 }, call())],
  ["a new registered version", 120, () => registry().createRegisteredVersion({ name: "m2", source: "s" }, call())],
  ["the storage", 20, () => client.getStorage({}, call())],
];

describe.each(["never analyzed", "analyzed"])("in a database that was %s, reads are bound for", (state) => {
  beforeAll(async () => {
    made = [];
    if (state === "analyzed") await fixture.ask("ANALYZE");
    for (let i = 0; i < 2 * TIMES; i += 1) {
      const answer = await fixture.client.createArtifact({ runId: large.runId, artifact, uri: "u" }, call());
      made.push(answer.artifact!.id);
    }
  });

  test.each(cases)("%s", async (_what, blocksMax, ask) => {
    for (let i = 1; i < TIMES; i += 1) await ask();
    const reads = await counter.readsOf(ask);
    // With the tables, which a failure should name.
    expect(reads.blocks > blocksMax ? reads : undefined).toBeUndefined();
    expect(reads.blocks).toBeGreaterThan(0);
  });
});

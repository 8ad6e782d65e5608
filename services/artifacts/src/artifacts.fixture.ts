import { createHash, randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { createFolderBlob } from "@tidemark/blob";
import { createDb, type Db } from "@tidemark/pg";
import { createRunDirectory, openGate } from "@tidemark/requests";
import { ArtifactsArchiveService } from "@tidemark/proto/artifacts/v1/archive";
import { ModelsService } from "@tidemark/proto/artifacts/v1/models";
import { RegistryService } from "@tidemark/proto/artifacts/v1/registry";
import { ArtifactsService } from "@tidemark/proto/artifacts/v1/artifacts";
import { CallerKind, IdentitySchema } from "@tidemark/proto/common/v1/common";
import { type Call, type Client, createCall, createLocalClient, implement } from "@tidemark/rpc";
import { createTestDatabase, testSql } from "@tidemark/testkit";
import { archiveHandlers, artifactsHandlers, modelsHandlers, registryHandlers } from "./handlers.ts";
import type { ArtifactsDeps } from "./deps.ts";
import { reserveObjects } from "./objects/objects.sql.ts";
import { findRunRefs } from "./runs/run-refs.sql.ts";
import { addStorage } from "./storage/storage.sql.ts";
import { createPartAddresses } from "./uploads/part-addresses.ts";
import { createUploadJobs } from "./uploads/upload-jobs.ts";
import { createUploadSecret } from "./uploads/uploads.sql.ts";
import { createOrReuseVersion, type VerifiedFile, type WantedVersion } from "./uploads/store-version.ts";
import { lockCollection } from "./versions/retention.sql.ts";

const schema = (name: string) => ({
  schema: name,
  directory: join(import.meta.dirname, "../..", name, "src/store"),
});

export type ArtifactsClient = Client<(typeof ArtifactsService)["method"]>;

/** An organization with one project, to which a caller belongs. */
export type Tenant = { readonly orgId: string; readonly projectId: string };

/** A collection, as tests refer to it. */
export type TestCollection = { readonly id: string; readonly projectId: string; readonly name: string };

/** A version, as tests refer to it. */
export type TestVersion = { readonly id: string; readonly index: number; readonly runId: string };

/** A file of a version that a test stores; a reference has an address. */
export type TestFile = { readonly path: string; readonly content?: string; readonly referenceUri?: string };

/** The service on its own database. */
export type ArtifactsFixture = {
  readonly client: ArtifactsClient;
  readonly archive: Client<(typeof ArtifactsArchiveService)["method"]>;
  readonly models: Client<(typeof ModelsService)["method"]>;
  readonly registry: Client<(typeof RegistryService)["method"]>;
  /** Another process of the service, with nothing in memory. */
  newProcess(changes?: Partial<ArtifactsDeps>): ArtifactsClient;
  /** Dependencies of the handlers; the object store is a folder. */
  readonly deps: ArtifactsDeps;
  /** With the service's role, under row level security. */
  readonly db: Db;
  /** With the role of the database's owner, exempt from row level security. */
  readonly owner: Db;
  readonly url: string;
  newTenant(): Promise<Tenant>;
  newProject(orgId: string, name?: string): Promise<string>;
  newRun(tenant: Tenant, projectId?: string): Promise<string>;
  newCollection(tenant: Tenant, fields?: { name?: string; type?: string; projectId?: string }): Promise<TestCollection>;
  /** Makes an object whose bytes count as written, and returns it as the message has it. */
  written(
    tenant: Tenant,
    content?: string | Uint8Array,
  ): Promise<{ readonly objectId: string; readonly sizeBytes: bigint; readonly sha256: Uint8Array<ArrayBuffer> }>;
  /** Stores a version like an upload does. */
  storeVersion(
    tenant: Tenant,
    collection: TestCollection,
    version?: Partial<Pick<WantedVersion, "aliases" | "ttlDays" | "sourceStep">> & {
      readonly sourceRunId?: string;
      readonly files?: readonly TestFile[];
    },
  ): Promise<TestVersion>;
  /** Moves the end of a version into the past; no sweeper runs. */
  expire(version: TestVersion): Promise<void>;
  /** Runs one statement as the owner. */
  ask<Row>(statement: string, ...values: readonly unknown[]): Promise<Row[]>;
  close(): Promise<void>;
};

/** Days that the tests keep the bytes of deleted versions. */
export const GRACE_DAYS = 7;

/** Connections of a role, and so transactions at a time. */
export const CONNECTIONS = 12;

/** Starts the service's handlers on a new database with the schemas `runs` and `artifacts`. */
export async function startArtifacts(): Promise<ArtifactsFixture> {
  const database = await createTestDatabase([schema("runs"), schema("artifacts")]);
  const { url } = database;
  const open = (role: string) => createDb({ url, role, application: "artifacts-test", connectionsMax: CONNECTIONS });
  const db = open("tidemark_artifacts");
  const owner = open(new URL(url).username);
  const workerDb = open("tidemark_artifacts_worker");
  const directory = await mkdtemp(join(tmpdir(), "tidemark-artifacts-"));
  const blob = createFolderBlob({ directory });
  const uploadSecret = createUploadSecret(db);
  const now = () => new Date();
  const process = (): ArtifactsDeps => ({
    db,
    workerDb,
    blob,
    runs: createRunDirectory((orgId, ids) => db.withTenant(orgId, (tx) => findRunRefs(tx, orgId, ids)), 1000),
    jobs: createUploadJobs({ db, blob, newId: randomUUID, log: { warn: () => {} } }),
    addresses: createPartAddresses(blob, uploadSecret, now),
    uploadSecret,
    newId: randomUUID,
    now,
    graceDays: GRACE_DAYS,
    storageBackend: "local",
    gate: openGate,
  });
  const clientOf = (deps: ArtifactsDeps): ArtifactsClient =>
    createLocalClient(ArtifactsService, implement(ArtifactsService, artifactsHandlers(deps)));
  const deps = process();
  const ask: ArtifactsFixture["ask"] = (statement, ...values) => owner.rows(testSql(statement), values);

  const newProject: ArtifactsFixture["newProject"] = async (orgId, name) => {
    const id = randomUUID();
    await ask("INSERT INTO runs.projects (org_id, id, name) VALUES ($1, $2, $3)", orgId, id, name ?? `p-${id}`);
    return id;
  };
  const newRun: ArtifactsFixture["newRun"] = async ({ orgId, projectId }, other = projectId) => {
    const id = randomUUID();
    await ask(
      `INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at)
       VALUES ($1, $2, $3, 'a run', 'running', '{}', '{}', '{}', now(), now())`,
      orgId,
      id,
      other,
    );
    return id;
  };
  const written: ArtifactsFixture["written"] = async ({ orgId }, content = randomUUID()) => {
    const objectId = randomUUID();
    await db.withTenant(orgId, (tx) => reserveObjects(tx, orgId, [objectId], 3600));
    const bytes = Buffer.from(content);
    const sha256 = new Uint8Array(createHash("sha256").update(bytes).digest());
    return { objectId, sizeBytes: BigInt(bytes.length), sha256 };
  };

  return {
    client: clientOf(deps),
    archive: createLocalClient(ArtifactsArchiveService, implement(ArtifactsArchiveService, archiveHandlers(deps))),
    models: createLocalClient(ModelsService, implement(ModelsService, modelsHandlers(deps))),
    registry: createLocalClient(RegistryService, implement(RegistryService, registryHandlers(deps))),
    newProcess: (changes) => clientOf({ ...process(), ...changes }),
    deps,
    db,
    owner,
    url,
    newProject,
    newRun,
    written,
    ask,
    newTenant: async () => {
      const orgId = randomUUID();
      return { orgId, projectId: await newProject(orgId) };
    },
    newCollection: async ({ orgId, projectId: own }, { name = "policy", type = "model", projectId = own } = {}) => {
      const id = randomUUID();
      await ask(
        `INSERT INTO artifacts.collections (org_id, id, project_id, type, name, metadata) VALUES ($1, $2, $3, $4, $5, '{"a":1.0}')`,
        orgId,
        id,
        projectId,
        type,
        name,
      );
      await db.withTenant(orgId, (tx) => addStorage(tx, orgId, { collections: 1 }));
      return { id, projectId, name };
    },
    storeVersion: async (tenant, collection, { files = [{ path: "a.bin" }], aliases = [], ...version } = {}) => {
      const { orgId } = tenant;
      const sourceRunId = version.sourceRunId ?? (await newRun(tenant, collection.projectId));
      const entries = await Promise.all(files.map((file) => entryOf(file, () => written(tenant, file.content))));
      const wanted = {
        sourceStep: null,
        ttlDays: null,
        ...version,
        aliases,
        versionId: randomUUID(),
        collectionId: collection.id,
        projectId: collection.projectId,
        runId: sourceRunId,
        digest: randomBytes(32).toString("hex"),
      };
      await db.withTenant(orgId, async (tx) => {
        await lockCollection(tx, orgId, collection.id);
        await createOrReuseVersion(tx, orgId, wanted, entries, randomUUID);
      });
      const id = wanted.versionId;
      const [stored] = await ask<{ index: number }>(
        "SELECT version_index AS index FROM artifacts.versions WHERE id = $1",
        id,
      );
      return { id, index: stored!.index, runId: sourceRunId };
    },
    expire: async ({ id }) => {
      await ask("UPDATE artifacts.versions SET expires_at = now() - interval '1 second' WHERE id = $1", id);
    },
    close: async () => {
      await deps.jobs.drain();
      await Promise.all([db.close(), workerDb.close(), owner.close()]);
      await database.drop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function entryOf(
  { path, referenceUri }: TestFile,
  write: () => ReturnType<ArtifactsFixture["written"]>,
): Promise<VerifiedFile> {
  const same = { id: randomUUID(), path, mimeType: "text/plain", referenceUri: referenceUri ?? null };
  if (referenceUri !== undefined) {
    return { ...same, kind: "reference", sizeBytes: null, sha256: null, objectId: null };
  }
  const { objectId, sizeBytes, sha256 } = await write();
  return { ...same, kind: "file", sizeBytes: Number(sizeBytes), sha256: Buffer.from(sha256).toString("hex"), objectId };
}

/** Returns a call of an API key of the organization, bound to a project or not. */
export function callOf({ orgId }: Pick<Tenant, "orgId">, identity: MessageInitShape<typeof IdentitySchema> = {}): Call {
  return createCall({
    timeoutMs: 600_000,
    identity: create(IdentitySchema, {
      kind: CallerKind.API_KEY,
      scopes: ["sdk:ingest", "export:read"],
      planTier: "free",
      billingState: "free_active",
      ...identity,
      orgId,
    }),
  });
}

/** Encodes a document as messages carry it. */
export const json = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

/** Decodes a document of a message. */
export const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

/** Returns the storage of an organization by its counters and by counting its rows; they have to be the same. */
export async function storageOf(fixture: ArtifactsFixture, { orgId }: Tenant) {
  const [counters] = await fixture.ask(
    `SELECT artifact_bytes, version_bytes, pending_delete_bytes, reserved_bytes, artifacts, unknown_sizes, collections, versions_active,
            versions_pending_delete
     FROM artifacts.usage_v1 WHERE org_id = $1`,
    orgId,
  );
  const [counted] = await fixture.ask(
    `SELECT
       (SELECT coalesce(sum(size_bytes), 0)::bigint FROM artifacts.artifacts WHERE org_id = $1 AND object_id IS NOT NULL)
         + (SELECT coalesce(sum(size_bytes), 0)::bigint FROM artifacts.model_files WHERE org_id = $1) AS artifact_bytes,
       (SELECT coalesce(sum(size_bytes), 0)::bigint FROM artifacts.versions WHERE org_id = $1 AND state = 'active') AS version_bytes,
       (SELECT coalesce(sum(size_bytes), 0)::bigint FROM artifacts.versions WHERE org_id = $1 AND state = 'soft_deleted')
         + (SELECT coalesce(sum(owed_bytes), 0)::bigint FROM artifacts.objects WHERE org_id = $1) AS pending_delete_bytes,
       (SELECT coalesce(sum(f.size_bytes), 0)::bigint FROM artifacts.upload_files f WHERE f.org_id = $1 AND f.upload_kind IS NOT NULL)
         AS reserved_bytes,
       (SELECT count(*) FROM artifacts.artifacts WHERE org_id = $1) + (SELECT count(*) FROM artifacts.model_files WHERE org_id = $1)
         AS artifacts,
       (SELECT count(*) FROM artifacts.artifacts WHERE org_id = $1 AND size_bytes IS NULL) AS unknown_sizes,
       (SELECT count(*) FROM artifacts.collections WHERE org_id = $1) AS collections,
       (SELECT count(*) FROM artifacts.versions WHERE org_id = $1 AND state = 'active') AS versions_active,
       (SELECT count(*) FROM artifacts.versions WHERE org_id = $1 AND state = 'soft_deleted') AS versions_pending_delete`,
    orgId,
  );
  return { counters, counted };
}

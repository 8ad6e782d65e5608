import { Client } from "pg";
import { until } from "@tidemark/testkit";
import { queryDatabase } from "../stack/attach.ts";
import type { OwnStack } from "../stack/stack.ts";
import type { Point } from "./store-files.ts";

/** How many clients store files at the same time while one step is held: one that retries after a fault, and one that does not. */
export const STORERS = 2;

/** A process that can be killed. */
export type Victim = "gateway" | "artifacts" | "store" | "postgres";

/**
 * A place between two durable actions. `hold` lets the storers get there and resolves when both have, because the next action cannot happen: rows
 * that it writes are locked, the store does not answer, or the gateway does not.
 */
export type Step = {
  readonly name: string;
  readonly stores: "a version" | "a plain artifact";
  readonly victims: readonly Victim[];
  readonly hold: (scene: Scene) => Promise<void>;
};

/** The means to hold a step. `release` lets go of everything that was held. */
export type Scene = {
  /** Lets the storers begin. With a point they wait there, and it resolves when all are there. */
  begin(waitAt?: Point): Promise<void>;
  /** Lets them leave the point. */
  pass(): void;
  /** Locks rows of the organization (`$1`) or a table until `unlock`; both locks of a step are apart. */
  lock(statement: string): Promise<{ unlock(): Promise<void> }>;
  /** Waits until as many wait for locks as there are storers. */
  blocked(): Promise<void>;
  /** Waits until `each` rows of the organization are counted for each storer. */
  counted(rows: string, each?: number): Promise<void>;
  pauseStore(): void;
  resumeStore(): void;
  pauseGateway(): void;
  release(): Promise<void>;
};

/** Creates the scene of one step. */
export function createScene(stack: OwnStack, orgId: string, storers: Storers): Scene {
  const locks: Client[] = [];
  const ask = async (text: string): Promise<number> =>
    (await queryDatabase<{ count: number }>(stack, `SELECT count(*)::int AS count FROM ${text}`, [orgId]))[0]!.count;
  const end = (client: Client): Promise<void> => client.end().catch(() => {});
  return {
    ...storers,
    async lock(statement) {
      const client = new Client({ connectionString: stack.databaseUrl });
      // The server may be killed under it.
      client.on("error", () => {});
      locks.push(client);
      await client.connect();
      await client.query("BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0");
      await client.query(statement.replaceAll("$1", `'${orgId}'`));
      return { unlock: () => end(client) };
    },
    blocked: () =>
      until(
        "all to be blocked",
        async () => (await ask("pg_stat_activity WHERE wait_event_type = 'Lock' AND $1 <> ''")) >= STORERS,
      ).then(() => {}),
    counted: (rows, each = 1) =>
      until(`rows of ${rows}`, async () => (await ask(rows)) === each * STORERS).then(() => {}),
    pauseStore: () => stack.minio!.signal("SIGSTOP"),
    resumeStore: () => stack.minio!.signal("SIGCONT"),
    pauseGateway: () => stack.children.get("gateway")!.signal("SIGSTOP"),
    async release() {
      storers.pass();
      stack.minio!.signal("SIGCONT");
      await Promise.all(locks.map(end));
    },
  };
}

/** How storers are started and held at a point. */
export type Storers = Pick<Scene, "begin" | "pass">;

const SESSIONS = "SELECT FROM artifacts.upload_sessions WHERE org_id = $1 FOR UPDATE";
const FILES = "SELECT FROM artifacts.upload_files WHERE org_id = $1 AND upload_kind <> 'inline' FOR UPDATE";
const OBJECTS = "SELECT FROM artifacts.objects WHERE org_id = $1 FOR UPDATE";
const COLLECTIONS = "SELECT FROM artifacts.collections WHERE org_id = $1 FOR UPDATE";
// A writer takes its own row.
const STORAGE = "LOCK TABLE artifacts.storage IN EXCLUSIVE MODE";
const uploads = (state: string): string => `artifacts.upload_sessions WHERE org_id = $1 AND state = '${state}'`;

/** Blocks what `complete` does first with such rows. */
const completeAgainst = async (scene: Scene, rows: string) => {
  await scene.begin("complete");
  const lock = await scene.lock(rows);
  scene.pass();
  await scene.blocked();
  return lock;
};

const namesUnwritten = async (scene: Scene) => {
  scene.pauseStore();
  void scene.begin();
  await scene.counted(uploads("uploading"));
  const lock = await scene.lock(OBJECTS);
  scene.resumeStore();
  await scene.blocked();
  return lock;
};

const plainAgainst = async (scene: Scene, table: string) => {
  const lock = await scene.lock(`LOCK TABLE artifacts.${table} IN EXCLUSIVE MODE`);
  void scene.begin();
  await scene.blocked();
  return lock;
};

const version = (name: string, victims: readonly Victim[], hold: (scene: Scene) => Promise<unknown>): Step => ({
  name,
  stores: "a version",
  victims,
  hold: async (scene) => void (await hold(scene)),
});
const plain = (...args: Parameters<typeof version>): Step => ({ ...version(...args), stores: "a plain artifact" });

/** All steps of an upload of a version, and of a plain artifact, in their order: each is after one durable action and before the next. */
export const steps: readonly Step[] = [
  version("nothing is written", ["artifacts", "postgres"], async (scene) => {
    await scene.lock("LOCK TABLE artifacts.upload_sessions IN EXCLUSIVE MODE");
    void scene.begin();
    await scene.blocked();
  }),
  version("rows are committed, no upload has begun in the store", ["artifacts", "store"], async (scene) => {
    scene.pauseStore();
    void scene.begin();
    await scene.counted(uploads("uploading"));
  }),
  version("uploads have begun in the store, their names are not written", ["artifacts", "postgres"], namesUnwritten),
  version("names are written, the addresses are not returned", ["gateway"], async (scene) => {
    const lock = await namesUnwritten(scene);
    scene.pauseGateway();
    await lock.unlock();
    await scene.counted("artifacts.objects WHERE org_id = $1 AND store_upload_id IS NOT NULL");
  }),
  version("half a part has arrived", ["gateway", "store"], (scene) => scene.begin("half a part")),
  version("all parts have arrived", ["store"], (scene) => scene.begin("complete")),
  version("completion is not accepted", ["artifacts", "postgres"], (scene) => completeAgainst(scene, SESSIONS)),
  version("completion is accepted, nothing is verified", ["artifacts", "store"], async (scene) => {
    const lock = await completeAgainst(scene, SESSIONS);
    scene.pauseStore();
    await lock.unlock();
    await scene.counted(uploads("completing"));
  }),
  version("files are whole in the store, that is not noted", ["artifacts", "store", "postgres"], (scene) =>
    completeAgainst(scene, FILES),
  ),
  version("all files are noted as verified, the upload is not", ["artifacts"], async (scene) => {
    const lock = await completeAgainst(scene, FILES);
    await scene.lock(SESSIONS);
    await lock.unlock();
    await scene.counted("artifacts.upload_files WHERE org_id = $1 AND NOT verified", 0);
    await scene.blocked();
  }),
  version("the upload is verified, there is no version", ["artifacts", "postgres"], async (scene) => {
    await completeAgainst(scene, COLLECTIONS);
    await scene.counted(uploads("provider_completed"));
  }),
  version("the version is written, not committed", ["artifacts", "postgres"], (scene) =>
    completeAgainst(scene, STORAGE),
  ),
  version("the version is committed, not answered", ["gateway"], async (scene) => {
    const lock = await completeAgainst(scene, STORAGE);
    scene.pauseGateway();
    await lock.unlock();
    await scene.counted(uploads("active"));
  }),
  plain("no object is reserved", ["artifacts"], (scene) => plainAgainst(scene, "objects")),
  plain("an object is reserved, its bytes are on their way", ["gateway", "store"], async (scene) => {
    scene.pauseStore();
    void scene.begin();
    // More than are needed are reserved at a time.
    await scene.counted(`(SELECT FROM artifacts.objects WHERE org_id = $1 LIMIT ${STORERS}) AS o`);
  }),
  plain("the bytes are stored, nothing refers to them", ["artifacts", "postgres"], (scene) =>
    plainAgainst(scene, "artifacts"),
  ),
  plain("the artifact is committed, not answered", ["gateway"], async (scene) => {
    const lock = await plainAgainst(scene, "artifacts");
    scene.pauseGateway();
    await lock.unlock();
    await scene.counted("artifacts.artifacts WHERE org_id = $1");
  }),
];

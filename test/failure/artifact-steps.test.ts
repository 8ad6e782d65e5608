import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { requireServers } from "@tidemark/testkit";
import { describeWith } from "../stack/describe-with.ts";
import { queryDatabase } from "../stack/attach.ts";
import { startOwnPostgres, type OwnPostgres } from "../stack/server.ts";
import { startStack, type OwnStack } from "../stack/stack.ts";
import { untilReady } from "../stack/child.ts";
import { letTimePass, neededKeys, storage, storedKeys, unfinishedUploads } from "./artifact-leftovers.ts";
import {
  downloadedHash,
  downloadedHashes,
  fileOf,
  insist,
  leave,
  storePlain,
  storeVersion,
  type File,
  type Insistence,
  type Point,
  type Storer,
} from "./store-files.ts";
import { createScene, steps, STORERS, type Storers, type Victim } from "./upload-steps.ts";

const servers = await requireServers(["nats-server", "minio"]);

/** Two storers, each with its own way of handling faults, which wait at a point if the step says so. */
function direct(store: (storer: Pick<Storer, "ask" | "at">) => Promise<string>) {
  const begun = Promise.withResolvers<void>();
  const all = Promise.withResolvers<void>();
  const passed = Promise.withResolvers<void>();
  let held: Point | undefined;
  let there = 0;
  const at = async (point: Point): Promise<void> => {
    if (point !== held) return;
    there += 1;
    if (there === STORERS) all.resolve();
    await passed.promise;
  };
  const storers: Storers = {
    async begin(waitAt) {
      held = waitAt;
      begun.resolve();
      if (waitAt !== undefined) await all.promise;
    },
    pass: passed.resolve,
  };
  const start = (ask: Insistence) => begun.promise.then(() => store({ ask, at }));
  return { storers, returning: start(insist), leaving: start(leave).catch(() => undefined) };
}

const expected = (files: readonly File[]) => Object.fromEntries(files.map(({ path, sha256 }) => [path, sha256]));

describeWith(servers)("killed between two steps of an upload", () => {
  let postgres: OwnPostgres;
  let stack: OwnStack;
  beforeAll(async () => {
    postgres = await startOwnPostgres();
    stack = await startStack("split", {
      databaseUrl: postgres.url,
      settings: { TIDEMARK_REMOVAL_SECONDS: "1", TIDEMARK_S3_PUBLIC_ENDPOINT: "" },
    });
  });
  afterAll(async () => {
    await stack.stop();
    await postgres.end();
  });

  /** Kills, releases what was held, and starts again. The lease of a dead process expires immediately instead of in 30 s. */
  async function kill(victim: Victim, release: () => Promise<void>): Promise<void> {
    const server = { store: stack.minio!, postgres }[victim as string];
    if (server === undefined) await stack.children.get(victim)!.end("SIGKILL");
    else server.signal("SIGKILL");
    await release();
    await (server === undefined ? stack.restart(victim) : server.start());
    await untilReady(stack);
    await queryDatabase(
      stack,
      "UPDATE artifacts.upload_sessions SET verified_until = now() WHERE verified_until > now()",
    );
  }

  const cases = steps.flatMap((step) => step.victims.map((victim) => [step.stores, step.name, victim, step] as const));

  test.each(cases)("%s; %s: %s is killed, and a client that retries gets all of it", async (...[, , victim, step]) => {
    const { api, orgId, key } = await stack.organization();
    const runId = (await api.post("/runs", {})).json.run.id;
    const files = [fileOf("small.txt", 100), fileOf("middle.bin", 300_000)];
    let stored = 0;
    const { storers, returning, leaving } = direct((storer) => {
      stored += 1;
      return step.stores === "a version"
        ? storeVersion({ api, runId, ...storer }, `collection ${stored}`, files)
        : storePlain({ api, runId, ...storer }, files[1]!);
    });
    const scene = createScene(stack, orgId, storers);
    try {
      await step.hold(scene);
    } catch (error) {
      await scene.release();
      stack.children.get("gateway")!.signal("SIGCONT");
      throw error;
    }
    await kill(victim, () => scene.release());

    const acknowledged = [await returning, await leaving].filter((id) => id !== undefined);
    for (const id of acknowledged) {
      if (step.stores === "a version") expect(await downloadedHashes(api, key, id)).toEqual(expected(files));
      else expect(await downloadedHash(api.baseUrl, key, `/api/artifacts/${id}/download`)).toBe(files[1]!.sha256);
    }
  });

  test("and when the time of all uploads is over, the store has what rows refer to and nothing else", async () => {
    await letTimePass(stack);
    expect(await storedKeys(stack)).toEqual(await neededKeys(stack));
    expect(await unfinishedUploads(stack)).toEqual([]);
    const { counters, counted } = await storage(stack);
    expect(counters).toEqual(counted);
    expect(counters).not.toEqual([]);
  });
});

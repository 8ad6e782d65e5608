import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect } from "@jest/globals";
import { requireServers } from "@tidemark/testkit";
import { Client } from "undici";
import type { Api } from "../stack/client.ts";
import { describeWith } from "../stack/describe-with.ts";
import { startStack, type OwnStack } from "../stack/stack.ts";
import { PROBE_VARIABLE, probeSocket, type Figures } from "./loop-probe.ts";
import { countOf } from "./wires.ts";

const servers = await requireServers(["nats-server", "minio"]);

/** The longest time that an attack may hold the event loop of the gateway, in milliseconds of CPU. Attacks held it for 290 to 1,500 before there were bounds. */
const HELD_MS_MAX = 200;

const MEBIBYTE = 1024 * 1024;

/** Bounds for the effect of an attack on the gateway. */
export type Bounds = {
  /** By how many MiB its memory may grow. */
  readonly grownMib: number;
  /** For how long it may be held, in place of `HELD_MS_MAX`. */
  readonly heldMs?: number;
};

/** A client with a key of an organization, and a run. */
export type Somebody = { readonly api: Api; readonly key: string; readonly orgId: string; readonly run: string };

/** The effect of an attack on the gateway. */
export type Damage<T> = Figures & {
  readonly result: T;
  /** By how many MiB its memory grew at most. */
  readonly grownMib: number;
};

/** A stack with a process for each module, an organization that attacks it, and a neighbor. */
export type Attacked = {
  readonly stack: OwnStack;
  readonly attacker: Somebody;
  readonly neighbor: Somebody;
  /** Returns what a module's process needed since it was asked before. */
  figures(module: string): Promise<Figures>;
  /**
   * Attacks while the neighbor keeps writing and reading: all its requests must succeed. The event loop of the gateway must not be held for long, and its
   * memory must not grow beyond the bound.
   */
  attack<T>(work: () => Promise<T>, bounds: Bounds): Promise<Damage<T>>;
};

/** Declares a suite with its own stack. */
export function describeAttacks(name: string, suite: (attacked: () => Attacked) => void): void {
  describeWith(servers)(name, () => {
    let probes = "";
    let attacked: Attacked | undefined;
    beforeAll(async () => {
      probes = await mkdtemp(join(tmpdir(), "probes-"));
      attacked = await startAttacked(probes);
    });
    afterAll(async () => {
      await attacked?.stack.stop();
      await rm(probes, { recursive: true });
    });
    suite(() => attacked!);
  });
}

async function startAttacked(probes: string): Promise<Attacked> {
  const preload = pathToFileURL(join(import.meta.dirname, "loop-probe.ts")).href;
  const stack = await startStack("split", {
    settings: { NODE_OPTIONS: `--import=${preload}`, [PROBE_VARIABLE]: probes },
  });
  const somebody = async (): Promise<Somebody> => {
    const { orgId, key, api } = await stack.organization();
    return { orgId, key, api, run: (await api.post("/runs", { project: "p" })).json.run.id };
  };
  const [attacker, neighbor] = [await somebody(), await somebody()];
  const figures = async (module: string): Promise<Figures> => {
    const client = new Client("http://probe", { socketPath: probeSocket(probes, module) });
    try {
      return (await (await client.request({ method: "GET", path: "/" })).body.json()) as Figures;
    } finally {
      await client.close();
    }
  };
  const attack: Attacked["attack"] = async (work, bounds) => {
    await figures("gateway");
    const { rssBytes: before } = await figures("gateway");
    const working = work();
    const statuses = await goOnDuring(working, neighbor);
    const result = await working;
    const done = await figures("gateway");
    const grownMib = Math.round((done.rssBytes - before) / MEBIBYTE);
    expect(countOf(statuses)).toEqual({ 200: statuses.length });
    expect(statuses.length).toBeGreaterThan(1);
    expect(done.heldMs).toBeLessThan(bounds.heldMs ?? HELD_MS_MAX);
    expect(grownMib).toBeLessThan(bounds.grownMib);
    return { ...done, result, grownMib };
  };
  return { stack, attacker, neighbor, figures, attack };
}

/** Writes and reads as a client until the work is done. Returns the statuses. */
async function goOnDuring(work: Promise<unknown>, { api, run }: Somebody): Promise<number[]> {
  const statuses: number[] = [];
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  work.then(end, end);
  for (let step = 0; !isOver; step += 1) {
    statuses.push((await api.post(`/runs/${run}/metrics`, { step, metrics: { loss: 1 } })).status);
    statuses.push((await api.get(`/runs/${run}`)).status);
    await pause(5);
  }
  return statuses;
}

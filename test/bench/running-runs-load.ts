import { setTimeout as pause } from "node:timers/promises";
import { until } from "@tidemark/testkit";
import pg from "pg";
import type { Api } from "../stack/client.ts";
import { runIn, signalOf } from "../stack/run-control.ts";
import { startStack, type OwnStack } from "../stack/stack.ts";
import { cpuOfTree } from "./cpu.ts";
import { shown, tableHead, tableRow } from "./markdown-table.ts";
import { runOpenLoop } from "./open-loop.ts";
import { withSender } from "./open-sender.ts";
import { residentMegabytes } from "./processes.ts";
import { seedSkewedRuns, type RunSkew } from "./seed/seed-running-runs.ts";

// What 100,000 running runs take to get into the memory of a control process, in a database with 2,000 small organizations beside a large one,
// while metrics and changes of status are written: at its start, and when all of them have changed since its last look.

const SMALL = 2000;
const ended = { large: 50_000, eachSmall: 5 };
const cases: readonly { what: string; skew: RunSkew }[] = [
  { what: "in one organization", skew: { small: SMALL, running: { large: 100_000, eachSmall: 0 }, ended } },
  { what: "in 2,000 organizations", skew: { small: SMALL, running: { large: 0, eachSmall: 50 }, ended } },
  { what: "in one and in 2,000", skew: { small: SMALL, running: { large: 50_000, eachSmall: 25 }, ended } },
];
const WRITES_PER_SECOND = 500;
const WRITTEN_RUNS = 32;
const CHANGES_PER_SECOND = 10;
const PROBE_MS = 5;
/** The last of all runs in the order of pages. */
const LAST_ID = "ffffffff-ffff-4fff-bfff-ffffffffffff";

/** What another process sees of a control process that loads runs, in milliseconds. */
type Probed = {
  /** From the end of the old process until the new one was ready, and of these since it answered at all. */
  readonly readyMs: number;
  readonly loadedMs: number;
  /** The same until a poll for a stop was answered, which have no other process to go to. */
  readonly answeredMs: number;
  /** The longest time that an answer without any work took meanwhile. */
  readonly pauseMs: number;
  /** CPU time of the process until it was ready. */
  readonly cpuMs: number;
};

async function answers(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url);
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}

/** Asks a process whether it lives, every five milliseconds, until `over`; returns the longest time of an answer. */
async function longestPause(port: number, over: () => boolean): Promise<number> {
  let longest = 0;
  while (!over()) {
    const started = performance.now();
    if (await answers(`http://127.0.0.1:${port}/livez`)) longest = Math.max(longest, performance.now() - started);
    await pause(PROBE_MS);
  }
  return longest;
}

async function probeStart(stack: OwnStack, api: Api, runId: string): Promise<Probed> {
  const port = stack.internalPorts.get("control")!;
  const started = performance.now();
  const restarted = stack.restart("control");
  await until("the end of the old process", async () => !(await answers(`http://127.0.0.1:${port}/livez`)));
  await until("the new process", () => answers(`http://127.0.0.1:${port}/livez`));
  const living = performance.now();
  const answering = until("a poll", async () => (await signalOf(api, runId)).status === 200).then(() =>
    performance.now(),
  );
  let ready = 0;
  const pausing = longestPause(port, () => ready > 0);
  await until("its readiness", () => answers(`http://127.0.0.1:${port}/readyz`));
  ready = performance.now();
  const cpuMs = ((await cpuOfTree(stack.children.get("control")!.pid)) ?? Number.NaN) * 1000;
  const pauseMs = await pausing;
  const answered = await answering;
  await restarted;
  return { readyMs: ready - started, loadedMs: ready - living, answeredMs: answered - started, pauseMs, cpuMs };
}

/** Writes metrics and changes statuses until it is stopped; returns what failed. */
function underLoad(stack: OwnStack, api: Api, key: string, runIds: readonly string[]) {
  const controller = new AbortController();
  const errors: string[] = [];
  const shared = {
    seconds: 3600,
    inFlightMax: 64,
    signal: controller.signal,
    onAnswer: ({ error }: { error: unknown }) => {
      if (error !== undefined) errors.push(error instanceof Error ? error.message : "no reason given");
    },
  };
  const keys = ["loss", "accuracy", "grad_norm", "lr", "eval/loss", "eval/accuracy"];
  const writing = withSender({ baseUrl: stack.baseUrl, key, connections: 64 }, ({ send }) =>
    runOpenLoop({
      ...shared,
      rate: WRITES_PER_SECOND,
      send: (index) =>
        send({
          method: "POST",
          path: `/runs/${runIds[index % runIds.length]}/metrics`,
          body: JSON.stringify({ step: index, metrics: Object.fromEntries(keys.map((name) => [name, Math.random()])) }),
        }),
    }),
  );
  const changing = runOpenLoop({
    ...shared,
    rate: CHANGES_PER_SECOND,
    send: async () => {
      const answer = await api.patch(`/runs/${await runIn(api, "changing")}`, { status: "finished" });
      if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
    },
  });
  return async (): Promise<string[]> => {
    controller.abort();
    await Promise.all([writing, changing]);
    return errors;
  };
}

/** Changes all running runs in one transaction, and measures until the last of them has changed in memory. */
async function probeChange(stack: OwnStack, owner: pg.Client, api: Api) {
  // Past the triggers, which would index each run for searches; this is not about those.
  await owner.query("BEGIN; SET LOCAL session_replication_role = replica");
  await owner.query(
    `UPDATE runs.runs SET stop_state = 'requested', stop_request_id = gen_random_uuid(), stop_requested_at = now(),
       changed_xid = pg_current_xact_id() WHERE status = 'running'`,
  );
  await owner.query("COMMIT");
  const committed = performance.now();
  let changed = 0;
  const pausing = longestPause(stack.internalPorts.get("control")!, () => changed > 0);
  const polls: number[] = [];
  let refused = 0;
  while (changed === 0) {
    const asked = performance.now();
    const { status, json } = await signalOf(api, LAST_ID);
    const now = performance.now();
    polls.push(now - asked);
    if (status !== 200) refused += 1;
    else if (json.stop_requested === true) changed = now;
  }
  return { changedMs: changed - committed, pauseMs: await pausing, polls, refused };
}

async function measure(databaseUrl: string, what: string, skew: RunSkew, say: (text: string) => void): Promise<string> {
  const stack = await startStack("split", { databaseUrl, settings: { TIDEMARK_LOG_LEVEL: "error" } });
  const owner = new pg.Client({ connectionString: databaseUrl });
  await owner.connect();
  try {
    const { orgId, key, api } = await stack.organization();
    const runIds: string[] = [];
    while (runIds.length < WRITTEN_RUNS) runIds.push(await runIn(api, "written"));
    const line = async (state: string): Promise<void> => {
      const { readyMs, loadedMs, answeredMs, pauseMs, cpuMs } = await probeStart(stack, api, runIds[0]!);
      const memory = await residentMegabytes(stack.children.get("control")!.pid);
      const numbers = [readyMs, loadedMs, answeredMs, pauseMs, cpuMs, memory];
      say(tableRow([what, state, ...numbers.map((value) => shown(value))]));
    };
    await line("none yet");
    await seedSkewedRuns(owner, { largeOrgId: orgId, lastId: LAST_ID, skew });
    await line("fresh, at rest");
    const stop = underLoad(stack, api, key, runIds);
    await line("fresh, while writing");
    await owner.query("ANALYZE runs.runs");
    await line("analyzed, while writing");
    const { changedMs, pauseMs, polls, refused } = await probeChange(stack, owner, api);
    const errors = await stop();
    say(tableRow([what, "all have changed, while writing", "", shown(changedMs), "", shown(pauseMs), "", ""]));
    const asked = `${polls.length} polls, the longest ${shown(Math.max(...polls))} ms, ${refused} refused`;
    const failed = errors.length === 0 ? "" : `; ${errors.length} other requests failed: ${errors[0]}`;
    return `${what}: while all changed, ${asked}${failed}`;
  } finally {
    await owner.end();
    await stack.stop();
  }
}

/** Measures the cases whose name contains `only`, each in its own database. */
export async function measureLoads(
  only: string,
  newDatabase: (name: string) => Promise<string>,
  say: (text: string) => void,
): Promise<void> {
  const titles = [
    "100,000 running runs",
    "tables",
    "ready after ms",
    "of it in the process",
    "polls answered after ms",
    "longest pause ms",
    "its CPU ms",
    "its memory MB",
  ];
  say(`\n${tableHead(titles)}`);
  const notes: string[] = [];
  for (const [n, { what, skew }] of cases.entries()) {
    if (what.includes(only)) notes.push(await measure(await newDatabase(`bench_load_${n}`), what, skew, say));
  }
  say(`\n${notes.join("\n")}`);
}

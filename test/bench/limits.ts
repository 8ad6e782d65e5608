import { cpus } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { createHeldTokens, createLimiter, createRequestCounts } from "@tidemark/gateway/limits";
import { hostedPlans } from "@tidemark/plans";
import { CallerKind, IdentitySchema } from "@tidemark/proto/common/v1/common";
import { startStack, type OwnStack } from "../stack/stack.ts";
import { parseBenchArguments } from "./command-line.ts";
import { cpuOfTree } from "./cpu.ts";
import { withFreshPostgres, type BenchPostgres } from "./fresh-postgres.ts";
import { runOpenLoop } from "./open-loop.ts";

// What limits cost: the decision alone, whole requests with leases of a large and of many small plans, and how much of the rate three
// gateways admit at three times of it.

const options = parseBenchArguments(process.argv.slice(2));
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const DECISIONS = 300_000;
const CLOCK_STEP_MS = 10;

/** CPU microseconds of a decision about a request of a Premium organization at its rate, with its share of the leases. */
async function decisionMicros(enabled: boolean): Promise<number> {
  let nowMs = 0;
  const clock = () => nowMs;
  const counts = createRequestCounts(Date.now);
  const limiter = createLimiter({
    enabled,
    plans: hostedPlans,
    tokens: createHeldTokens({
      lease: ({ wanted }) => Promise.resolve({ tokens: wanted, left: 400 }),
      gateways: () => 1,
      nowMs: clock,
    }),
    counts,
    gateways: () => 1,
    clocks: { wallMs: Date.now, steadyMs: clock },
  });
  const identity = create(IdentitySchema, {
    kind: CallerKind.API_KEY,
    orgId: "0a1b2c3d-0000-4000-8000-000000000001",
    planTier: "premium",
  });
  const before = process.cpuUsage();
  for (let i = 0; i < DECISIONS; i += 1) {
    nowMs += CLOCK_STEP_MS;
    const admission = limiter.admit(identity, { rate: "ingest" });
    if (admission instanceof Promise) await admission;
    // As between requests, leases that were asked for may arrive.
    else await Promise.resolve();
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / DECISIONS;
}

async function measureDecisions(): Promise<void> {
  const [on, off]: [number[], number[]] = [[], []];
  for (let round = 0; round < Math.max(5, options.rounds); round += 1) {
    off.push(await decisionMicros(false));
    on.push(await decisionMicros(true));
  }
  say("\n| decision, Premium, ingest | CPU µs |\n|---|---|");
  say(`| limits off | ${median(off).toFixed(2)} |`);
  say(`| limits on | ${median(on).toFixed(2)} |`);
  say(`| difference | ${(median(on) - median(off)).toFixed(2)} |`);
}

const REQUESTS_PER_SECOND = 150;
const SMALL_ORGANIZATIONS = 60;

/** CPU microseconds of a request: of the server and of the database. */
type Cost = { readonly server: number; readonly database: number };

async function costOf(stack: OwnStack, postgresPid: number, keys: readonly string[], seconds: number): Promise<Cost> {
  const read = async () => ({
    server: (await cpuOfTree([...stack.children.values()][0]!.pid)) ?? Number.NaN,
    database: (await cpuOfTree(postgresPid)) ?? Number.NaN,
  });
  let good = 0;
  const send = async (index: number): Promise<void> => {
    const answer = await stack.api.get("/projects", { key: keys[index % keys.length]! });
    if (answer.status === 200) good += 1;
  };
  const load = (during: number) =>
    runOpenLoop({ rate: REQUESTS_PER_SECOND, seconds: during, inFlightMax: 64, send, onAnswer: () => {} });
  await load(2);
  good = 0;
  const before = await read();
  await load(seconds);
  const after = await read();
  if (good < REQUESTS_PER_SECOND * seconds * 0.99) throw new Error(`only ${good} requests were admitted`);
  return {
    server: ((after.server - before.server) * 1e6) / good,
    database: ((after.database - before.database) * 1e6) / good,
  };
}

async function measureRequests(postgres: BenchPostgres): Promise<void> {
  const stacks: Record<string, OwnStack> = {};
  const keys: Record<string, { premium: string[]; free: string[] }> = {};
  for (const limits of ["off", "on"]) {
    const databaseUrl = await postgres.database(`limits_${limits}`);
    const settings = { TIDEMARK_LOG_LEVEL: "error", TIDEMARK_LIMITS: limits };
    const stack = await startStack("embedded", { databaseUrl, settings });
    stacks[limits] = stack;
    const free = [];
    for (let i = 0; i < SMALL_ORGANIZATIONS; i += 1) free.push((await stack.organization({ plan: "free" })).key);
    keys[limits] = { premium: [(await stack.organization({ plan: "premium" })).key], free };
  }
  say(
    `\n| GET /projects at ${REQUESTS_PER_SECOND}/s | limits | server CPU µs | PostgreSQL CPU µs |\n|---|---|---|---|`,
  );
  for (const [name, tier] of [
    ["one Premium organization", "premium"],
    [`${SMALL_ORGANIZATIONS} Free organizations`, "free"],
  ] as const) {
    const costs: Record<string, Cost[]> = { off: [], on: [] };
    for (let round = 0; round < options.rounds; round += 1) {
      for (const limits of ["off", "on"]) {
        costs[limits]!.push(await costOf(stacks[limits]!, postgres.pid, keys[limits]![tier], options.seconds));
      }
    }
    for (const [limits, all] of Object.entries(costs)) {
      const of = (side: keyof Cost): string => median(all.map((cost) => cost[side])).toFixed(0);
      say(`| ${name} | ${limits} | ${of("server")} | ${of("database")} |`);
    }
  }
  for (const stack of Object.values(stacks)) await stack.stop();
}

const STEADY_SECONDS = 60;

async function measureSteady(postgres: BenchPostgres): Promise<void> {
  const databaseUrl = await postgres.database("limits_steady");
  const settings = { TIDEMARK_LOG_LEVEL: "error", TIDEMARK_LIMITS: "on" };
  const stack = await startStack("split", { databaseUrl, settings });
  try {
    const ways = [stack.api, (await stack.addReplica()).api, (await stack.addReplica()).api];
    await pause(3000);
    say(
      `\n| three gateways, three times the rate, ${STEADY_SECONDS} s | admitted | allowed | share |\n|---|---|---|---|`,
    );
    for (const plan of ["premium", "pro", "free"] as const) {
      const { rate_limit_rps: rate, rate_limit_burst: burst } = hostedPlans[plan];
      const { key } = await stack.organization({ plan });
      let admitted = 0;
      const started = performance.now();
      await runOpenLoop({
        rate: 3 * rate,
        seconds: STEADY_SECONDS,
        inFlightMax: 256,
        send: async (index) => {
          const { status } = await ways[index % ways.length]!.get("/projects", { key });
          if (status === 200) admitted += 1;
        },
        onAnswer: () => {},
      });
      const allowed = burst + (rate * (performance.now() - started)) / 1000;
      say(`| ${plan} | ${admitted} | ${allowed.toFixed(0)} | ${(admitted / allowed).toFixed(4)} |`);
    }
  } finally {
    await stack.stop();
  }
}

say(`${cpus().length} x ${cpus()[0]?.model.trim() ?? "unknown CPU"}, Node ${process.version}.`);
const parts = ["decision", "requests", "steady"].filter((part) => part.includes(options.only));
if (parts.includes("decision")) await measureDecisions();
await withFreshPostgres(async (postgres) => {
  if (parts.includes("requests")) await measureRequests(postgres);
  if (parts.includes("steady")) await measureSteady(postgres);
});

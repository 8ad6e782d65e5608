import { connect, type Socket } from "node:net";
import { cpus } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { startChangePublisher } from "@tidemark/changes";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import { openBenchStack, type BenchStack } from "./bench-stack.ts";
import { parseBenchArguments } from "./command-line.ts";
import { singleStepCases } from "./cases.ts";
import { cpuOfTree } from "./cpu.ts";
import { withFreshPostgres, type BenchPostgres } from "./fresh-postgres.ts";
import { runLoad } from "./load.ts";
import { shown, tableHead, tableRow } from "./markdown-table.ts";
import { percentilesOf, spreadOf } from "./percentiles.ts";
import { residentMegabytes } from "./processes.ts";

// What a stream of changes costs: memory for each of 10,000, the time from the answer of a write to its event, and the CPU that ingest pays.

const options = parseBenchArguments(process.argv.slice(2));
const SUBSCRIBERS = Math.round(10_000 * options.scale);
const STREAMS_PER_KEY = 100;
const TOGETHER = 10;
const WRITES = 100;
const SETTLE_MS = 5000;
const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Opens a stream, again as long as the server is too busy. */
async function openStream(...how: Parameters<typeof tryStream>): Promise<Socket> {
  for (;;) {
    const opened = await tryStream(...how);
    if (typeof opened !== "string") return opened;
    if (!opened.startsWith("HTTP/1.1 503")) throw new Error(opened.slice(0, 600));
    await pause(1000);
  }
}

/** A stream as cheap for the client as it can be, or what came instead. `onText` gets what arrives. */
function tryStream(
  url: URL,
  key: string,
  projectId: string,
  onText?: (text: string) => void,
): Promise<Socket | string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(url.port), url.hostname);
    socket.setEncoding("utf8");
    socket.once("error", reject);
    socket.once("data", (head: unknown) => {
      const text = String(head);
      resolve(text.startsWith("HTTP/1.1 200") ? socket : text);
      if (!text.startsWith("HTTP/1.1 200")) socket.destroy();
    });
    if (onText === undefined) socket.on("data", () => {});
    else socket.on("data", onText);
    socket.write(
      `GET /api/projects/${projectId}/changes HTTP/1.1\r\nhost: ${url.host}\r\nauthorization: Bearer ${key}\r\n\r\n`,
    );
  });
}

async function keysOf({ stack, orgId }: BenchStack, count: number): Promise<string[]> {
  const operator = { key: null, headers: { "x-svc-bootstrap-token": stack.bootstrapToken } };
  const keys: string[] = [];
  while (keys.length < count) {
    const wish = { name: "bench", scopes: ["export:read"] };
    keys.push((await stack.api.post(`/api/orgs/${orgId}/api-keys`, wish, operator)).json.api_key as string);
  }
  return keys;
}

async function openStreams(bench: BenchStack, projectIds: readonly string[], count: number): Promise<Socket[]> {
  const url = new URL(bench.stack.baseUrl);
  const keys = await keysOf(bench, Math.ceil(count / STREAMS_PER_KEY));
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const first = sockets.length;
    const batch = Array.from({ length: Math.min(TOGETHER, count - first) }, (_, i) =>
      openStream(url, keys[Math.floor(first / STREAMS_PER_KEY)]!, projectIds[(first + i) % projectIds.length]!),
    );
    sockets.push(...(await Promise.all(batch)));
  }
  return sockets;
}

const closeAll = async (sockets: readonly Socket[]): Promise<void> => {
  for (const socket of sockets) socket.destroy();
  await pause(SETTLE_MS);
};

/** Writes one point after the other, at moments that are spread over the interval of merging, and waits for the event of each. */
async function measureDelays(bench: BenchStack, projectId: string, runId: string, step0: number): Promise<number[]> {
  let seen: { step: number; at: number } = { step: -1, at: 0 };
  const socket = await openStream(new URL(bench.stack.baseUrl), bench.key, projectId, (text) => {
    const at = performance.now();
    for (const [, step] of text.matchAll(/"step":(\d+)/g)) seen = { step: Number(step), at };
  });
  const delays: number[] = [];
  for (let i = 0; i < WRITES; i++) {
    const step = step0 + i;
    const answer = await bench.api.post(`/runs/${runId}/metrics`, { metrics: { loss: 1 }, step });
    if (answer.status !== 200) throw new Error(answer.text);
    const answered = performance.now();
    while (seen.step < step) await pause(1);
    delays.push(Math.max(0, seen.at - answered));
    await pause((i * 37) % 300);
  }
  socket.destroy();
  return delays;
}

async function measureMemory(bench: BenchStack): Promise<void> {
  const [pid] = bench.pids as [number];
  const projects: string[] = [];
  for (let i = 0; i < 100; i++) projects.push((await bench.api.post("/projects", { name: `p${i}` })).json.project.id);
  const { id: runId } = (await bench.api.post("/runs", { project: "p0" })).json.run as { id: string };
  const alone = percentilesOf(await measureDelays(bench, projects[0]!, runId, 0));
  // What the process needs once for connections, it has afterwards.
  await closeAll(await openStreams(bench, projects, Math.min(500, SUBSCRIBERS)));
  const before = await residentMegabytes(pid);
  const cpuBefore = (await cpuOfTree(pid)) ?? Number.NaN;
  const sockets = await openStreams(bench, projects, SUBSCRIBERS);
  const cpuOpening = ((await cpuOfTree(pid)) ?? Number.NaN) - cpuBefore;
  await pause(4 * SETTLE_MS);
  const spread = await residentMegabytes(pid);
  const quietBefore = (await cpuOfTree(pid)) ?? Number.NaN;
  await pause(30_000);
  const quiet = (((await cpuOfTree(pid)) ?? Number.NaN) - quietBefore) / 30;
  say(
    `\n${SUBSCRIBERS} streams in 100 projects: memory before ${shown(before)} MB, with them ${shown(spread)} MB, which is ${shown(((spread - before) * 1024) / SUBSCRIBERS, 1)} KiB each.`,
  );
  say(
    `Opening one takes ${shown((cpuOpening * 1e6) / SUBSCRIBERS)} CPU µs; all of them at rest ${shown(quiet * 100, 1)} % of a core.\n`,
  );
  const among = percentilesOf(await measureDelays(bench, projects[0]!, runId, WRITES));
  const after = await residentMegabytes(pid);
  say(`After ${WRITES} writes: ${shown(after)} MB.\n`);
  await closeAll(sockets);
  const together = await openStreams(bench, projects.slice(0, 1), SUBSCRIBERS);
  const crowd = percentilesOf(await measureDelays(bench, projects[0]!, runId, 2 * WRITES));
  await closeAll(together);
  say(tableHead(["streams", "from the answer to the event, ms: p50", "p95", "p99"]));
  for (const [what, { p50, p95, p99 }] of [
    ["this one alone", alone],
    [`${SUBSCRIBERS} in 100 projects`, among],
    [`${SUBSCRIBERS} in this project`, crowd],
  ] as const) {
    say(tableRow([what, shown(p50), shown(p95), shown(p99)]));
  }
}

async function measureIngest(bench: BenchStack): Promise<void> {
  const pid = bench.stack.children.get("ingest")!.pid;
  const runIds = await bench.newRuns(32);
  const { project_id: projectId } = (await bench.api.get(`/runs/${runIds[0]}`)).json.run as { project_id: string };
  const shot = singleStepCases(runIds).find(({ concurrency }) => concurrency === 8)!.shot;
  const perRequest = async (): Promise<number> => {
    const readings: number[] = [];
    const { requests, errors, firstError } = await runLoad(
      { baseUrl: bench.stack.baseUrl, key: bench.key, concurrency: 8, warmUp: 1, seconds: options.seconds, shot },
      async () => void readings.push((await cpuOfTree(pid)) ?? Number.NaN),
    );
    if (errors > 0) throw new Error(firstError);
    return ((readings[1]! - readings[0]!) * 1e6) / requests;
  };
  await perRequest();
  const without: number[] = [];
  const withStreams: number[] = [];
  for (let round = 0; round < options.rounds; round++) {
    without.push(await perRequest());
    const sockets = await openStreams(bench, [projectId], 1000);
    withStreams.push(await perRequest());
    await closeAll(sockets);
  }
  const ratios = withStreams.map((value, i) => value / without[i]!);
  say(
    `\nCPU of ingest for a write of one step with six metrics, 8 connections, 32 runs, ${options.rounds} rounds in turn:\n`,
  );
  say(tableHead(["", "CPU µs a request: median", "lowest", "highest"]));
  for (const [what, values] of [
    ["nobody follows", without],
    ["1,000 streams of the project", withStreams],
  ] as const) {
    const { median, min, max } = spreadOf(values);
    say(tableRow([what, shown(median, 1), shown(min, 1), shown(max, 1)]));
  }
  say(`\nRatio of neighbors, median: ${shown(spreadOf(ratios).median, 3)}.`);
}

/** What noting a write costs by itself, messages included, at a rate of writes. */
async function measureNoting(): Promise<void> {
  let messages = 0;
  const publisher = startChangePublisher({
    bus: { announce: () => ++messages > 0 },
    id: "000000000000",
    steadyMs: () => performance.now(),
  });
  const keys = ["a", "b", "c", "d", "e", "f"];
  const runIds = Array.from({ length: 32 }, (_, i) => `00000000-0000-4000-8000-0000000000${10 + i}`);
  const before = process.cpuUsage();
  const count = 200_000;
  for (let i = 0; i < count; i++) {
    publisher.note({ orgId: "o", projectId: "p", runId: runIds[i % 32]!, kind: ChangeKind.POINTS, keys, step: i });
    // Some 4,000 writes a second.
    if (i % 200 === 199) await pause(50);
  }
  const { user, system } = process.cpuUsage(before);
  publisher.stop();
  say(
    `\nNoting a write: ${shown((user + system) / count, 2)} CPU µs, its part of ${messages} messages and of the timers included.`,
  );
}

async function inMode(postgres: BenchPostgres, mode: "embedded" | "split", use: (bench: BenchStack) => Promise<void>) {
  const bench = await openBenchStack(postgres, mode, `changes_${mode}`, {
    TIDEMARK_CONNECTIONS_MAX: String(Math.max(10_000, 5 * SUBSCRIBERS)),
  });
  try {
    await use(bench);
  } finally {
    await bench.stop();
  }
}

say(`${cpus().length} x ${cpus()[0]?.model.trim() ?? "unknown CPU"}, Node ${process.version}.`);
await measureNoting();
await withFreshPostgres(async (postgres) => {
  if (options.modes.includes("embedded")) await inMode(postgres, "embedded", measureMemory);
  if (options.modes.includes("split")) await inMode(postgres, "split", measureIngest);
});

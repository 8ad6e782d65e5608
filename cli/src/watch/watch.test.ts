import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";
import { storablePoints } from "../convert/point-lines.ts";
import { runIdentity } from "../convert/run-heads.ts";
import { runCli } from "../run-cli.ts";
import { openSource, type Source } from "../source/source.ts";
import { fixturesFolder, recordedSurroundings, temporaryFolder } from "../surroundings.fixture.ts";
import { createWarnings } from "../terminal/warnings.ts";
import { startPointsServer, type PointsServer } from "./points-server.fixture.ts";

const MAIN = "offline-run-20261122_231259-main";
const log = readFileSync(join(fixturesFolder, "wandb-0.31.0/data/wandb", MAIN, "run-main.wandb"));

let server: PointsServer | undefined;
afterEach(() => server?.stop());

const run = (from: string, surroundings = recordedSurroundings()): Promise<number> =>
  runCli(["import", from, "--watch", "--url", server!.url, "--project", "p"], surroundings);

/** What the reader finds in the end, as the server should have it. */
async function pointsOf(from: string): Promise<Map<string, [number, number][]>> {
  const source = (await openSource(from, undefined, recordedSurroundings())) as Source;
  const [ids, points] = [new Map<string, string>(), new Map<string, [number, number][]>()];
  for await (const item of source.items()) {
    if (item.kind === "run" && !ids.has(item.run))
      ids.set(item.run, (await runIdentity(source, "p", item, createWarnings())).id);
    const found = item.kind === "points" ? storablePoints(item, createWarnings()) : undefined;
    if (found === undefined) continue;
    const place = `${ids.get(item.run!)!} ${found.key}`;
    const rows = Array.from(found.steps, (step, i): [number, number] => [step, found.values[i]!]);
    points.set(place, [...(points.get(place) ?? []), ...rows]);
  }
  return points;
}

/** A folder with the log of a run up to a byte. */
function folderWith(bytes: number): { readonly folder: string; readonly grow: (bytes: number) => void } {
  const folder = temporaryFolder();
  mkdirSync(join(folder, MAIN));
  const grow = (to: number): void => writeFileSync(join(folder, MAIN, "run-main.wandb"), log.subarray(0, to));
  grow(bytes);
  return { folder, grow };
}

test("a training that writes is followed to its end", async () => {
  server = await startPointsServer();
  const { folder, grow } = folderWith(2000);
  let size = 2000;
  const wait = (): Promise<void> => Promise.resolve(grow((size = Math.min(log.length, size * 2))));
  expect(await run(folder, recordedSurroundings({ wait }))).toBe(0);
  expect(size).toBe(log.length);
  expect(server.points).toEqual(await pointsOf(folder));
  expect([...server.statuses.values()]).toEqual(["finished"]);
  expect(server.batches.length).toBeGreaterThan(1);
  expect(Math.max(...server.batches)).toBeLessThanOrEqual(500);
});

test("a start after a broken one doubles nothing", async () => {
  let isDown = true;
  server = await startPointsServer((request) => isDown && request.endsWith("/metrics/batch"));
  const { folder, grow } = folderWith(6000);
  const stateFolder = temporaryFolder();
  expect(await run(folder, recordedSurroundings({ stateFolder }))).toBe(1);
  const arrived = server.points.size;
  expect(arrived).toBeGreaterThan(0);
  isDown = false;
  grow(log.length);
  expect(await run(folder, recordedSurroundings({ stateFolder }))).toBe(0);
  expect(server.points).toEqual(await pointsOf(folder));
  // Once more there is nothing new.
  const batches = server.batches.length;
  expect(await run(folder, recordedSurroundings({ stateFolder }))).toBe(0);
  expect(server.batches).toHaveLength(batches);
});

test("a run that came in another way is left alone", async () => {
  server = await startPointsServer();
  const { folder } = folderWith(log.length);
  expect(await run(folder)).toBe(0);
  const batches = server.batches.length;
  const surroundings = recordedSurroundings();
  expect(await run(folder, surroundings)).toBe(0);
  expect(server.batches).toHaveLength(batches);
  expect(surroundings.printed.join("\n")).toContain("is there already");
});

test("Ctrl-C closes runs of TensorBoard, and the next start continues", async () => {
  server = await startPointsServer();
  const folder = temporaryFolder();
  const data = join(fixturesFolder, "tensorboard-2.21.0/data");
  const [first] = readdirSync(data).filter((name) => name.includes("tfevents"));
  const events = readFileSync(join(data, first!));
  const path = join(folder, first!);
  writeFileSync(path, events.subarray(0, events.length / 2));
  const stateFolder = temporaryFolder();
  for (const isWhole of [false, true]) {
    if (isWhole) writeFileSync(path, events);
    const ends = new AbortController();
    const wait = (): Promise<void> => Promise.resolve(ends.abort());
    expect(await run(folder, recordedSurroundings({ stateFolder, wait, signal: ends.signal }))).toBe(0);
    expect([...server.statuses.values()]).toHaveLength(1);
    expect([...server.statuses.values()]).not.toContain("running");
  }
  expect(server.points).toEqual(await pointsOf(folder));
});

test("nothing else can be watched", async () => {
  server = await startPointsServer();
  const folder = temporaryFolder();
  cpSync(join(fixturesFolder, "mlflow-3.17.2/data"), folder, { recursive: true });
  expect(await run(folder)).toBe(2);
});

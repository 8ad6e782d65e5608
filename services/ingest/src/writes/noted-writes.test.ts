import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import type { NotedChange } from "@tidemark/bus";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import { callOf, columnsOf, startIngest, type IngestFixture, type Tenant } from "../ingest.fixture.ts";
import { tableOf } from "../objects/objects.fixture.ts";
import { highestStep } from "./write-steps.ts";

let ingest: IngestFixture;
let tenant: Tenant;
let runId: string;
let noted: NotedChange[];
let write: IngestFixture["write"];

beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
});
afterAll(() => ingest.close());
beforeEach(async () => {
  runId = await ingest.newRun(tenant);
  noted = [];
  write = ingest.writer(undefined, { noteChange: (change) => void noted.push(change) });
});

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const attribute = (path: string, step?: number) => ({
  path,
  type: "config",
  ...(step === undefined ? {} : { step }),
  valueJson: json(1),
  summaryJson: json({}),
});
const points = (more = {}) => ({ runId, columns: columnsOf([3, { b: 1, a: 1 }], [2, { a: 1 }]), ...more });
const lines = (more = {}) => ({
  runId,
  stream: "stdout",
  lines: [9, 4].map((lineNumber) => ({ lineNumber, message: "x", timestamp: "" })),
  ...more,
});
const ranks = (more = {}) => ({
  runId,
  keys: ["gpu"],
  values: [1],
  step: 6,
  rank: 0,
  worldSize: 2,
  localRank: 0,
  weight: 1,
  ...more,
});

test("each write notes its run, what it wrote and how far", async () => {
  const call = callOf(tenant);
  await write.appendMetrics(points(), call);
  await write.appendRankMetrics(ranks(), call);
  await write.appendLogLines(lines(), call);
  await write.appendAttributes({ runId, attributes: [attribute("x", 2), attribute("y", 5), attribute("x")] }, call);
  await write.createObject(tableOf(runId, { step: 7 }), call);
  const of = { ...tenant, runId };
  expect(noted).toEqual([
    { ...of, kind: ChangeKind.POINTS, keys: ["a", "b"], step: 3 },
    { ...of, kind: ChangeKind.POINTS, keys: ["gpu"], step: 6 },
    { ...of, kind: ChangeKind.LINES, line: 9 },
    { ...of, kind: ChangeKind.OBJECTS, keys: ["x", "y"], step: 5 },
    { ...of, kind: ChangeKind.OBJECTS, keys: ["t"], step: 7 },
  ]);
});

test("a repeat, and what is refused, notes nothing", async () => {
  const call = callOf(tenant);
  const idempotencyKey = randomUUID();
  const requests = [
    () => write.appendMetrics(points({ idempotencyKey: `${idempotencyKey}m` }), call),
    () => write.appendRankMetrics(ranks({ idempotencyKey: `${idempotencyKey}r` }), call),
    () => write.appendLogLines(lines({ idempotencyKey: `${idempotencyKey}l` }), call),
    () => write.appendAttributes({ runId, attributes: [attribute("x")], idempotencyKey: `${idempotencyKey}a` }, call),
    () => write.createObject(tableOf(runId, { idempotencyKey: `${idempotencyKey}o` }), call),
  ];
  for (const request of requests) await request();
  expect(noted).toHaveLength(5);
  for (const request of requests) await request();
  const foreign = callOf(await ingest.newTenant());
  await expect(write.appendMetrics(points(), foreign)).rejects.toMatchObject({ reason: "not_found" });
  await expect(write.appendLogLines(lines(), foreign)).rejects.toMatchObject({ reason: "not_found" });
  expect(noted).toHaveLength(5);
});

test.each([
  [[], undefined],
  [[undefined], undefined],
  [[undefined, 2, 1], 2],
  [[-1, undefined], -1],
])("the highest of the steps %j is %j", (steps, highest) => {
  expect(highestStep(steps)).toBe(highest);
});

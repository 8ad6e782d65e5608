import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import type { NotedChange } from "@tidemark/bus";
import { callOf, startIngest, type IngestFixture, type Tenant } from "../ingest.fixture.ts";

let ingest: IngestFixture;
let tenant: Tenant;
let runId: string;

beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
});
afterAll(() => ingest.close());
beforeEach(async () => {
  runId = await ingest.newRun(tenant);
});

type Item = { path?: string; type?: string; loggedAt?: string; artifactId?: string };
const textOf = (value: unknown, item: Item = {}) => ({
  path: "console/stdout",
  type: "string_series",
  ...item,
  valueJson: Buffer.from(JSON.stringify(value)),
  summaryJson: Buffer.from("{}"),
});
const write = (attributes: ReturnType<typeof textOf>[], idempotencyKey = "", writer = ingest.write) =>
  writer.appendAttributes({ runId, attributes, idempotencyKey }, callOf(tenant));
const log = (lines: readonly (readonly [lineNumber: number, message: string])[]) =>
  ingest.write.appendLogLines(
    {
      runId,
      stream: "stdout",
      lines: lines.map(([lineNumber, message]) => ({ lineNumber, message, timestamp: "" })),
    },
    callOf(tenant),
  );
type Query = { stream?: string; limit?: number; cursor?: string; q?: string; tail?: number };
const list = (query: Query = {}) =>
  ingest.read.listLogLines({ runId, stream: "stdout", limit: 250, ...query }, callOf(tenant));
const lines = async (query?: Query) => (await list(query)).lines.map((line) => [line.lineNumber, line.message]);
const attributes = async () =>
  (await ingest.read.listAttributes({ runId, limit: 1000 }, callOf(tenant))).attributes.map(({ valueJson }) =>
    JSON.parse(Buffer.from(valueJson).toString()),
  );

describe("captured console lines", () => {
  test("are console lines of their stream in the order of the request, and attributes as before", async () => {
    await write([textOf("a"), textOf("oops", { path: "console/stderr" }), textOf("b")]);
    await write([textOf("é c")]);
    expect(await lines()).toEqual([
      [1, "a"],
      [2, "b"],
      [3, "é c"],
    ]);
    expect(await lines({ stream: "stderr" })).toEqual([[1, "oops"]]);
    expect(await attributes()).toEqual(["a", "oops", "b", "é c"]);
  });

  test("follow the lines that were logged as such, before and after these are compacted", async () => {
    await log([
      [7, "seven"],
      [3, "three"],
    ]);
    await write([textOf("eight")]);
    await ingest.compactor().round();
    await write([textOf("nine")]);
    await log([[8, "later"]]);
    const wanted = [
      [3, "three"],
      [7, "seven"],
      [8, "eight"],
      [8, "later"],
      [9, "nine"],
    ];
    expect(await lines()).toEqual(wanted);
    await ingest.compactor().round();
    expect(await lines()).toEqual(wanted);
  });

  test("are paged, searched and found at the end, also when a request has more than a segment holds", async () => {
    const all = Array.from({ length: 130 }, (_, i) => `line ${i + 1}`);
    await write(all.map((line) => textOf(line)));
    await write([textOf("the last")]);
    const paged: string[] = [];
    for (let cursor = ""; ;) {
      const page = await list({ limit: 40, cursor });
      paged.push(...page.lines.map(({ message }) => message));
      if (page.nextCursor === "") break;
      cursor = page.nextCursor;
    }
    expect(paged).toEqual([...all, "the last"]);
    expect(await lines({ q: "LINE 77" })).toEqual([[77, "line 77"]]);
    expect(await lines({ tail: 2 })).toEqual([
      [130, "line 130"],
      [131, "the last"],
    ]);
  });

  test("have the time that was sent, or that of their arrival", async () => {
    await write([textOf("sent", { loggedAt: "2026-01-05T10:00:00.123456Z" }), textOf("not")]);
    const [sent, not] = (await list()).lines;
    expect(sent).toMatchObject({ timestamp: "2026-01-05T10:00:00.123456Z" });
    expect(not!.timestamp).toBe(not!.createdAt);
    expect(not!.createdAt).toBe(sent!.createdAt);
  });

  test("end where a line does, at a whole character, while the attribute keeps all of it", async () => {
    const long = `x${"é".repeat(8192)}`;
    await write([textOf(long), textOf("x".repeat(16_384))]);
    expect(await lines()).toEqual([
      [1, `x${"é".repeat(8191)}`],
      [2, "x".repeat(16_384)],
    ]);
    expect(await attributes()).toEqual([long, "x".repeat(16_384)]);
  });

  test.each([
    ["a number", textOf(1)],
    ["null", textOf(null)],
    ["an object", textOf({ a: "b" })],
    ["another type", textOf("a", { type: "config" })],
    ["another path", textOf("a", { path: "console/stdout/0" })],
    ["another name", textOf("a", { path: "console" })],
  ])("do not include: %s", async (_what, item) => {
    await write([item]);
    expect(await lines()).toEqual([]);
    expect(await attributes()).toHaveLength(1);
  });

  test("may be empty, and hold what JSON escapes", async () => {
    await write([textOf(""), textOf('"\\u0041"\n\t\u{1F600}')]);
    await write([{ ...textOf(""), valueJson: Buffer.from(String.raw`"\u0000\ud800 \u00e9 \\u0000"`) }]);
    expect(await lines()).toEqual([
      [1, ""],
      [2, '"\\u0041"\n\t\u{1F600}'],
      [3, String.raw`��` + " é " + String.raw`\u0000`],
    ]);
  });

  test("may be as many as fit a request", async () => {
    await write(Array.from({ length: 20_000 }, () => textOf("")));
    expect((await lines({ tail: 2 })).map(([number]) => number)).toEqual([19_999, 20_000]);
  });

  test("are stored once for an idempotency key", async () => {
    const key = randomUUID();
    for (let i = 0; i < 2; i += 1) await write([textOf("once")], key);
    expect(await lines()).toEqual([[1, "once"]]);
    expect(await attributes()).toEqual(["once"]);
  });

  test("are not stored when the request is refused", async () => {
    const refused = write([textOf("a"), textOf("b", { artifactId: randomUUID() })]);
    await expect(refused).rejects.toMatchObject({ reason: "bad_request" });
    expect(await lines()).toEqual([]);
  });

  test("behind the highest number that a line can have share it", async () => {
    await log([[Number.MAX_SAFE_INTEGER - 1, "almost"]]);
    await write(["a", "b", "c"].map((line) => textOf(line)));
    await write([textOf("d")]);
    const highest = Number.MAX_SAFE_INTEGER;
    const wanted = [
      [highest - 1, "almost"],
      [highest, "a"],
      [highest, "b"],
      [highest, "c"],
      [highest, "d"],
    ];
    expect(await lines()).toEqual(wanted);
    await ingest.compactor().round();
    expect(await lines()).toEqual(wanted);
  });

  test("are announced as lines, with the number of the last one", async () => {
    const noted: NotedChange[] = [];
    const writer = ingest.writer(undefined, { noteChange: (change) => void noted.push(change) });
    await write([textOf("a"), textOf("b")], "", writer);
    await write([textOf("a", { path: "note" })], "", writer);
    expect(noted.map(({ kind, line }) => [kind, line])).toEqual([
      [ChangeKind.LINES, 2],
      [ChangeKind.OBJECTS, undefined],
      [ChangeKind.OBJECTS, undefined],
    ]);
  });
});

test("only the attributes are restored, because an archive has their lines as lines", async () => {
  await write([textOf("a")]);
  const { attributes: exported } = await ingest.read.listAttributes({ runId, limit: 10 }, callOf(tenant));
  const copy = await ingest.newRun(tenant);
  await ingest.restorer().restoreAttributes({ name: randomUUID(), runId: copy, attributes: exported }, callOf(tenant));
  runId = copy;
  expect(await attributes()).toEqual(["a"]);
  expect(await lines()).toEqual([]);
});

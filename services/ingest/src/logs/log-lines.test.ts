import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { callOf, startIngest, type IngestFixture, type Tenant } from "../ingest.fixture.ts";

// One file, because all cases share one service and its lines.

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

type Line = readonly [lineNumber: number, message: string, timestamp?: string];
const requestOf = (lines: readonly Line[], stream = "stdout") => ({
  runId,
  stream,
  lines: lines.map(([lineNumber, message, timestamp = ""]) => ({ lineNumber, message, timestamp })),
});
const write = (lines: readonly Line[]) => ingest.write.appendLogLines(requestOf(lines), callOf(tenant));

type Query = { limit?: number; q?: string; cursor?: string; tail?: number };
const list = (query: Query = {}) =>
  ingest.read.listLogLines({ runId, stream: "stdout", limit: 250, ...query }, callOf(tenant));
const numbered = (from: number, to: number): Line[] =>
  Array.from({ length: to - from }, (_, i) => [from + i, `line ${from + i}`] as const);

async function writeMany(lines: readonly Line[]): Promise<void> {
  for (let at = 0; at < lines.length; at += 50) await write(lines.slice(at, at + 50));
}

describe("a page of lines of control characters", () => {
  const message = "\u0001".repeat(16_384);
  const sizeOf = (lines: readonly { message: string }[]) => Buffer.byteLength(JSON.stringify(lines));
  const MAX = 16 * 1024 * 1024;
  beforeEach(() => writeMany(numbered(0, 250).map(([number]) => [number, message])));

  test.each(["", "\u0001"])(
    "that match %j ends before its JSON exceeds 16 MiB, and continues after that",
    async (q) => {
      const numbers: number[] = [];
      let cursor = "";
      let pages = 0;
      do {
        const page = await list({ limit: 1000, q, cursor });
        expect(sizeOf(page.lines)).toBeLessThan(MAX);
        expect(page.truncated).toBe(false);
        numbers.push(...page.lines.map(({ lineNumber }) => lineNumber));
        cursor = page.nextCursor;
        pages += 1;
      } while (cursor !== "");
      expect([numbers, pages]).toEqual([numbered(0, 250).map(([number]) => number), 2]);
    },
  );

  test("at the end of the stream has the last of them, and says that it is not all", async () => {
    const { lines, truncated } = await list({ tail: 250 });
    expect([sizeOf(lines) < MAX, lines.length > 100, lines.at(-1)!.lineNumber, truncated]).toEqual([
      true,
      true,
      249,
      true,
    ]);
    expect(await list({ tail: 10 })).toMatchObject({ truncated: false, lines: { length: 10 } });
  });
});

describe("a write of console lines", () => {
  test("keeps the client's time, and gives lines without one the server's", async () => {
    await write([
      [0, "timed", "2026-01-02T03:04:05.678901Z"],
      [1, "untimed"],
    ]);
    const { lines } = await list();
    expect(lines[0]!.timestamp).toBe("2026-01-02T03:04:05.678901Z");
    expect(lines[1]!.timestamp).toBe(lines[1]!.createdAt);
  });

  test("keeps escape codes, line breaks and every other character", async () => {
    const message = '\u001b[31mred\u001b[0m\r\n\t{"json": "\\\\"} \u{1F600} \'';
    await write([[0, message]]);
    expect((await list()).lines[0]!.message).toBe(message);
  });

  test("takes line numbers up to 2^53 - 1", async () => {
    await write([[Number.MAX_SAFE_INTEGER, "last"]]);
    expect((await list()).lines[0]!.lineNumber).toBe(Number.MAX_SAFE_INTEGER);
  });

  test("keeps lines of one number, in the order of their arrival", async () => {
    await write([
      [1, "a"],
      [1, "b"],
    ]);
    await write([[1, "c"]]);
    expect((await list()).lines.map(({ message }) => message)).toEqual(["a", "b", "c"]);
  });

  test("continues after the run has finished", async () => {
    await ingest.finishRun(runId);
    expect(await write([[0, "late"]])).toMatchObject({ inserted: 1 });
  });

  test("asks for other ids when its first ones are taken", async () => {
    const firsts = [64, 64, 128];
    const writer = ingest.writer({ take: () => firsts.shift()! });
    await writer.appendLogLines(
      requestOf([
        [1, "a"],
        [1, "b"],
      ]),
      callOf(tenant),
    );
    await writer.appendLogLines(
      requestOf([
        [1, "c"],
        [1, "d"],
      ]),
      callOf(tenant),
    );
    expect((await list()).lines.map(({ message }) => message)).toEqual(["a", "b", "c", "d"]);
  });

  test("with a key is stored once, however often and simultaneously it is sent", async () => {
    const request = {
      ...requestOf([
        [0, "x"],
        [1, "y"],
      ]),
      idempotencyKey: randomUUID(),
    };
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => ingest.write.appendLogLines(request, callOf(tenant))),
    );
    expect(answers.map(({ inserted }) => inserted)).toEqual(Array.from({ length: 10 }, () => 2));
    expect(answers.filter(({ replayed }) => replayed)).toHaveLength(9);
    expect((await list()).lines).toHaveLength(2);
  });

  test.each([
    ["another message", requestOfChange([[0, "y"]])],
    ["another number", requestOfChange([[1, "x"]])],
    ["another time", requestOfChange([[0, "x", "2026-01-01T00:00:00Z"]])],
    ["the other stream", requestOfChange([[0, "x"]], "stderr")],
  ])("with a key is refused when the key is sent with %s", async (_, change) => {
    const idempotencyKey = randomUUID();
    await ingest.write.appendLogLines({ ...requestOf([[0, "x"]]), idempotencyKey }, callOf(tenant));
    await expect(ingest.write.appendLogLines({ ...change(), idempotencyKey }, callOf(tenant))).rejects.toMatchObject({
      reason: "idempotency_key_reused",
    });
  });
});

function requestOfChange(lines: readonly Line[], stream?: string) {
  return () => requestOf(lines, stream);
}

describe("a search in console lines", () => {
  test("that ends exactly at its bound is not truncated", async () => {
    await writeMany(numbered(0, 40));
    expect(await list({ q: "needle", limit: 2 })).toMatchObject({ lines: [], nextCursor: "", truncated: false });
  });
});

describe("a run that is not the caller's to see", () => {
  test.each([
    ["does not exist", () => randomUUID()],
    ["has an id that is not a UUID", () => "x"],
    ["is another organization's", async () => ingest.newRun(await ingest.newTenant())],
    ["lies in another project", async () => ingest.newRun(tenant, await ingest.newProject(tenant.orgId))],
  ])("because it %s is not found, by reads and by writes, even with other faults", async (_, idOf) => {
    const hidden = await idOf();
    const call = callOf(tenant, tenant.projectId);
    const notFound = { reason: "not_found", message: "run not found" };
    const fault = { text: "lines is required", field: "lines" };
    for (const query of [{ limit: 1 }, { limit: 1, cursor: "%%%" }, { queryFault: { text: "no", field: "limit" } }]) {
      await expect(ingest.read.listLogLines({ runId: hidden, stream: "stdout", ...query }, call)).rejects.toMatchObject(
        notFound,
      );
    }
    await expect(ingest.write.appendLogLines({ ...requestOf([[0, "x"]]), runId: hidden }, call)).rejects.toMatchObject(
      notFound,
    );
    await expect(ingest.write.appendLogLines({ runId: hidden, bodyFault: fault }, call)).rejects.toMatchObject(
      notFound,
    );
  });
});

test("a fault of the query is refused once the run is found", async () => {
  const queryFault = { text: "limit must be a whole number", field: "limit" };
  await expect(ingest.read.listLogLines({ runId, queryFault }, callOf(tenant))).rejects.toMatchObject({
    reason: "bad_request",
    message: queryFault.text,
    field: "limit",
  });
});

test.each<[string, object, string]>([
  ["a fault of the body", { bodyFault: { text: "lines is required", field: "lines" } }, "lines is required"],
  [
    "an unknown stream",
    { stream: "stdin", lines: [{ lineNumber: 0, message: "" }] },
    "stream must be stdout or stderr",
  ],
  ["no lines", { stream: "stdout" }, "at least one line is needed"],
  [
    "51 lines",
    { stream: "stdout", lines: Array.from({ length: 51 }, () => ({ lineNumber: 0, message: "" })) },
    "lines must have 1 to 50 items",
  ],
  [
    "the time yesterday",
    { stream: "stdout", lines: [{ lineNumber: 0, message: "", timestamp: "yesterday" }] },
    "timestamp must be an RFC 3339 time in UTC",
  ],
])("%s is refused", async (_, request, message) => {
  await expect(ingest.write.appendLogLines({ runId, ...request }, callOf(tenant))).rejects.toMatchObject({
    reason: "bad_request",
    message,
  });
});

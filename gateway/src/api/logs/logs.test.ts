import { describe, expect, test } from "@jest/globals";
import { create } from "@bufbuild/protobuf";
import { AppendLogLinesResponseSchema, ListLogLinesResponseSchema } from "@tidemark/proto/ingest/v1/ingest";
import { decodeAppendLogs, decodeListLogs, encodeAppendLogs, encodeListLogs } from "./logs.ts";
import { writeJson } from "../../http/json.ts";
import { inputOf } from "../route-input.fixture.ts";

const runId = "0c9b8a1e-1111-4222-8333-444455556666";
const append = (body: object, idempotencyKey?: string) =>
  decodeAppendLogs(inputOf({ body: body as Record<string, unknown>, idempotencyKey }));

describe("POST /api/runs/{run_id}/logs", () => {
  test("is read, on standard output unless said", () => {
    const lines = [
      { line_number: 1, message: "", timestamp: "2026-01-01T01:00:00.5+01:00" },
      { line_number: 0, message: " x " },
    ];
    expect(append({ lines }, "k")).toEqual({
      runId,
      idempotencyKey: "k",
      stream: "stdout",
      lines: [
        { lineNumber: 1, message: "", timestamp: "2026-01-01T00:00:00.5Z" },
        { lineNumber: 0, message: " x ", timestamp: "" },
      ],
      bodyFault: undefined,
    });
    expect(append({ lines, stream: "stderr" })).toMatchObject({ stream: "stderr", idempotencyKey: "" });
  });

  test("replaces what no text column can hold", () => {
    const { lines } = append({ lines: [{ line_number: 0, message: "a\0b\ud800c\udc00\u{1F600}" }] });
    expect(lines![0]!.message).toBe("a\uFFFDb\uFFFDc\uFFFD\u{1F600}");
  });

  test("measures a message in bytes, as it was sent", () => {
    const fits = ["x".repeat(16_384), "é".repeat(8192), "\0".repeat(16_384)];
    for (const message of fits) expect(append({ lines: [{ line_number: 0, message }] }).bodyFault).toBeUndefined();
  });

  const line = { line_number: 0, message: "x" };
  test.each([
    ["no lines", {}, "lines is required"],
    ["an empty list", { lines: [] }, "lines must have 1 to 50 items"],
    ["51 lines", { lines: Array.from({ length: 51 }, () => line) }, "lines must have 1 to 50 items"],
    ["no list", { lines: line }, "lines must be a list"],
    ["a line that is not an object", { lines: [line, "x"] }, "lines[1]: must be an object"],
    ["a line that is null", { lines: [null] }, "lines[0]: must be an object"],
    [
      "a negative line number",
      { lines: [{ ...line, line_number: -1 }] },
      "lines[0]: line_number must be a whole number of at least 0",
    ],
    [
      "a line number beyond 2^53",
      { lines: [{ ...line, line_number: 2 ** 53 }] },
      "lines[0]: line_number must be a whole number of at least 0",
    ],
    [
      "a line number in quotes",
      { lines: [{ ...line, line_number: "1" }] },
      "lines[0]: line_number must be a whole number of at least 0",
    ],
    ["no message", { lines: [{ line_number: 0 }] }, "lines[0]: message must be a text"],
    ["a message that is not a text", { lines: [{ ...line, message: 1 }] }, "lines[0]: message must be a text"],
    [
      "a message of 16,385 bytes",
      { lines: [{ ...line, message: "é".repeat(8192) + "x" }] },
      "lines[0]: message must have at most 16384 bytes",
    ],
  ])("with %s is sent on as a fault, without lines", (_, body, text) => {
    expect(append(body)).toEqual({ runId, idempotencyKey: "", bodyFault: { text, field: expect.any(String) } });
  });

  test("answers with the number of lines", () => {
    expect(encodeAppendLogs(create(AppendLogLinesResponseSchema, { inserted: 2, replayed: true }))).toEqual({
      body: { inserted: 2 },
      replayed: true,
    });
  });
});

describe("GET /api/runs/{run_id}/logs", () => {
  const first = { runId, stream: "stdout", q: "", cursor: "", limit: 250 };
  test.each([
    ["nothing", {}, first],
    [
      "a stream, a page size and a cursor",
      { stream: "stderr", limit: "1000", cursor: "WzEsMl0" },
      { ...first, stream: "stderr", limit: 1000, cursor: "WzEsMl0" },
    ],
    ["a text, trimmed", { q: "  Loss nan " }, { ...first, q: "Loss nan" }],
    ["a tail", { tail: "500" }, { runId, stream: "stdout", tail: 500 }],
    ["a tail with any limit", { tail: "1", limit: "9999" }, { runId, stream: "stdout", tail: 1 }],
  ])("with %s is read", (_, query, wanted) => {
    expect(decodeListLogs(inputOf({ query }))).toEqual(wanted);
  });

  test.each([
    ["a limit of 1001", { limit: "1001" }, "limit"],
    ["a tail of 0", { tail: "0" }, "tail"],
    ["a tail of 501", { tail: "501" }, "tail"],
    ["a tail and a text", { tail: "5", q: "x" }, "tail"],
    ["a tail and a cursor", { tail: "5", cursor: "WzEsMl0" }, "tail"],
  ])("with %s is sent on as a fault", (_, query, field) => {
    expect(decodeListLogs(inputOf({ query }))).toEqual({ runId, queryFault: { text: expect.any(String), field } });
  });

  const times = { timestamp: "2026-01-01T00:00:00Z", createdAt: "2026-01-01T00:00:01.5Z" };
  const response = create(ListLogLinesResponseSchema, {
    lines: [{ lineNumber: 7, message: "hi", ...times }],
    nextCursor: "WzEsMl0",
    truncated: true,
  });

  test("answers with the lines, each with its run and stream", async () => {
    const input = inputOf({ params: { run_id: runId.toUpperCase() }, query: { stream: "stderr", limit: "2" } });
    const { body } = await encodeListLogs(response, decodeListLogs(input));
    expect(JSON.parse(writeJson(body))).toEqual({
      lines: [
        {
          run_id: runId,
          stream: "stderr",
          line_number: 7,
          message: "hi",
          timestamp: times.timestamp,
          created_at: times.createdAt,
        },
      ],
      next_cursor: "WzEsMl0",
      limit: 2,
      truncated: true,
    });
  });

  test("answers without a cursor at the end, and with the tail's length as limit", async () => {
    const end = create(ListLogLinesResponseSchema, {});
    const { body } = await encodeListLogs(end, decodeListLogs(inputOf({ query: { tail: "9" } })));
    expect(JSON.parse(writeJson(body))).toEqual({ lines: [], next_cursor: null, limit: 9, truncated: false });
  });
});

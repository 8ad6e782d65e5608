import { describe, expect, test } from "@jest/globals";
import { createLog, type Log, type LogLevel } from "./index.ts";

const secret = "tm_k1x2y3z4_0123456789abcdefABCDEF0123456789_a1B2c3";

function capture(level: LogLevel = "debug"): {
  log: Log;
  lines: string[];
  last: () => Record<string, unknown>;
} {
  const lines: string[] = [];
  const log = createLog({
    level,
    service: "runs",
    destination: { write: (line) => void lines.push(line) },
  });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? "null") as Record<string, unknown> };
}

describe("an entry", () => {
  test("is one line of JSON with time, level, service, fields and message", () => {
    const { log, lines, last } = capture();
    log.child({ request_id: "r1", trace_id: "t1" }).warn("slow statement", { org_id: "o1", seconds: 1.5 });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^\{[^\n]*\}\n$/);
    expect(last()).toEqual({
      level: "warn",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      service: "runs",
      request_id: "r1",
      trace_id: "t1",
      org_id: "o1",
      seconds: 1.5,
      message: "slow statement",
    });
  });

  test.each([
    ["debug", ["debug", "info", "warn", "error"]],
    ["warn", ["warn", "error"]],
    ["silent", []],
  ] as const)("at level %s only %j are written", (level, expected) => {
    const { log, lines } = capture(level);
    log.debug("debug");
    log.info("info");
    log.warn("warn");
    log.error("error");
    expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual(expected);
  });

  test("survives circular fields, big integers and fields that are left out", () => {
    const { log, last } = capture();
    const circle: Record<string, unknown> = { n: 10n };
    circle.self = circle;
    log.info("odd", { circle });
    expect(last()).toMatchObject({ message: "odd", circle: { n: 10 } });
    log.info("plain");
    expect(last()).toMatchObject({ message: "plain" });
  });
});

test("fields that cannot be read do not stop the caller, and the text is still written", () => {
  const { log, last } = capture();
  const broken = {
    get value(): string {
      throw new Error("no");
    },
  };
  log.info("odd", broken);
  expect(last()).toMatchObject({ level: "info", message: "odd", unloggable: true });
});

describe("an error", () => {
  test("shows type, reason, code, stack and causes, and nothing else it carries", () => {
    const { log, last } = capture();
    const cause = Object.assign(new Error("duplicate key"), {
      code: "23505",
      detail: "Key (email)=(a@b.c) exists",
    });
    const error = Object.assign(new TypeError("cannot create", { cause }), {
      reason: "conflict",
      row: { email: "a@b.c" },
    });
    log.error("create failed", { error });
    expect(last().error).toEqual({
      type: "TypeError",
      message: "cannot create",
      reason: "conflict",
      stack: expect.stringContaining("log.test.ts"),
      cause: { type: "Error", message: "duplicate key", code: "23505", stack: expect.any(String) },
    });
  });

  test("that is its own cause ends", () => {
    const { log, lines } = capture();
    const error: Error = new Error("loop");
    error.cause = error;
    log.error("odd", { error });
    expect(lines[0]?.match(/"message":"loop"/g)).toHaveLength(6);
  });

  test.each([
    ["a text", "just text", { type: "string", message: "just text" }],
    ["nothing", null, { type: "object", message: "null" }],
    ["an object without a message", { a: 1 }, { type: "object", message: "[object Object]" }],
  ])("that is %s is still described", (_, thrown, expected) => {
    const { log, last } = capture();
    log.error("odd", { error: thrown });
    expect(last().error).toEqual(expected);
  });
});

describe("secrets never reach a line", () => {
  const bearer = "Bearer abc.def-ghi_jkl";
  test.each<[string, (log: Log) => void]>([
    ["in the message", (log) => log.info(`key ${secret} refused`)],
    ["after a line break in the message", (log) => log.info(`key\n${secret}`)],
    ["in a field", (log) => log.info("x", { note: `sent ${secret}` })],
    ["deep in a field", (log) => log.info("x", { a: { b: [{ c: { d: secret } }] } })],
    ["as the name of a field", (log) => log.info("x", { [secret]: 1 })],
    ["in a field of a child", (log) => log.child({ note: secret }).info("x")],
    ["in the message of an error", (log) => log.error("x", { error: new Error(`no key ${secret}`) })],
    ["in the cause of an error", (log) => log.error("x", { error: new Error("a", { cause: new Error(secret) }) })],
    ["in a thrown text", (log) => log.error("x", { error: secret })],
    ["inside a URL", (log) => log.info("x", { url: `/embed?token=${encodeURIComponent(secret)}` })],
  ])("a credential of ours %s", (_, write) => {
    const { log, lines } = capture();
    write(log);
    expect(lines[0]).toContain("tm_[redacted]");
    expect(lines[0]).not.toContain("0123456789abcdef");
    expect(() => JSON.parse(lines[0] ?? "")).not.toThrow();
  });

  test.each<[string, (log: Log) => void, string]>([
    ["a bearer value in the message", (log) => log.info(`header was ${bearer}`), "abc.def"],
    ["a bearer value in lower case", (log) => log.info("x", { raw: bearer.toLowerCase() }), "abc.def"],
    ["a bearer value in an error", (log) => log.error("x", { error: new Error(bearer) }), "abc.def"],
    [
      "a basic value in a list of raw headers",
      (log) => log.info("x", { h: ["authorization", "Basic dXNlcjpwYXNz"] }),
      "dXNlcjpwYXNz",
    ],
    ["a password inside a URL", (log) => log.info("postgres://app:hunter2@db:5432/x is down"), "hunter2"],
    ["an authorization field", (log) => log.info("x", { authorization: "plain-value" }), "plain-value"],
    ["an authorization header", (log) => log.info("x", { headers: { authorization: "plain-value" } }), "plain-value"],
    ["a header of a request", (log) => log.info("x", { req: { headers: { cookie: "plain-value" } } }), "plain-value"],
    [
      "a header with a hyphen, also as a list",
      (log) => log.info("x", { h: { "set-cookie": ["plain-value"] } }),
      "plain-value",
    ],
    ["a password in a child", (log) => log.child({ password: "plain-value" }).info("x"), "plain-value"],
    ["a token below a child's field", (log) => log.child({ login: { token: "plain-value" } }).info("x"), "plain-value"],
  ])("%s", (_, write, absent) => {
    const { log, lines } = capture();
    write(log);
    expect(lines[0]).toContain("[redacted]");
    expect(lines[0]).not.toContain(absent);
    expect(() => JSON.parse(lines[0] ?? "")).not.toThrow();
  });

  test.each([
    ["a short name that starts alike", "tm_short"],
    ["the word bearer at the end of a sentence", "no bearer"],
    ["a URL without a password", "http://127.0.0.1:8080/api?at=10:30@home"],
    ["an address with a port", "nats://127.0.0.1:4222"],
  ])("but %s is left alone", (_, text) => {
    const { log, last } = capture();
    log.info(text);
    expect(last().message).toBe(text);
  });

  test("the object that was logged keeps its secret", () => {
    const { log } = capture();
    const headers = { authorization: "plain-value" };
    log.info("x", { headers });
    expect(headers.authorization).toBe("plain-value");
  });
});

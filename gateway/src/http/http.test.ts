import { describe, expect, test } from "@jest/globals";
import { AppError } from "@tidemark/errors";
import { BODY_DEPTH_MAX, parseJsonObject } from "@tidemark/documents";
import { createPathMethods } from "../serving/unmatched.ts";
import { baseUrlOf, cookieSecure, createOriginRule, isHost } from "./origin.ts";
import { acceptsGzip } from "./compress.ts";
import { readIdempotencyKey, requestIdOf } from "./headers.ts";
import { parseQuery } from "./query.ts";

const refused = (read: () => unknown): string => {
  try {
    read();
  } catch (error) {
    if (error instanceof AppError && error.reason === "bad_request") return error.message;
    throw error;
  }
  throw new Error("nothing was refused");
};

describe("request ids", () => {
  const idFor = (sent?: string | string[]): string => requestIdOf({ headers: { "x-request-id": sent } });
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

  test.each(["a", "A.b_c:d-9", "x".repeat(128), "request-tm_1", "disk_full"])("%s is kept", (sent) => {
    expect(idFor(sent)).toBe(sent);
  });

  test.each([
    ["nothing", undefined],
    ["an empty one", ""],
    ["129 characters", "x".repeat(129)],
    ["a mail address", "me@example.org"],
    ["two headers", ["a", "b"]],
    ...["tm_abc", "instantml_abc", "sk_live_1", "sk_test", "pk_1", "ghp_1", "gho_1", "AKIA123", "xoxb-1", "TM_ABC"].map(
      (secret) => [`the secret-looking ${secret}`, secret] as [string, string],
    ),
  ])("instead of %s a new one is created", (_, sent) => expect(idFor(sent)).toMatch(uuid));
});

describe("queries", () => {
  test.each([
    ["nothing", "", {}],
    ["values are unescaped", "q=a%20b+c&project=%C3%A9", { q: "a b c", project: "é" }],
    ["blank values count as absent", "a=&b=%20&c&d=1", { d: "1" }],
    ["empty parts are skipped", "&a=1&&", { a: "1" }],
    ["a value may hold an equals sign", "q=a=b", { q: "a=b" }],
    ["a search text may hold NUL", "q=%00", { q: "\0" }],
  ])("%s", (_, text, query) => expect({ ...parseQuery(text) }).toEqual(query));

  test("a parameter called __proto__ is a parameter", () => {
    const query = parseQuery("__proto__=1");
    expect(Object.entries(query)).toEqual([["__proto__", "1"]]);
  });

  test.each([
    ["a parameter that is given twice", "a=1&b=2&a=1", "the parameter a is given twice"],
    ["twice, once blank", "a=&a=1", "the parameter a is given twice"],
    ["twice, once escaped", "a=1&%61=1", "the parameter a is given twice"],
    ["a bad escape", "a=%zz", "the parameter a has an invalid escape"],
    ["invalid UTF-8", "a=%ff", "the parameter a has an invalid escape"],
    ["NUL", "a=%00", "the parameter a has an invalid escape"],
    ["NUL in a name", "q%00=a", "the parameter q%00=a has an invalid escape"],
  ])("refused: %s", (_, text, message) => expect(refused(() => parseQuery(text))).toBe(message));

  test("a blank value counts as not sent, unless the route says otherwise", () => {
    expect({ ...parseQuery("a=&b=%20") }).toEqual({});
    expect(refused(() => parseQuery("a=&b=+", ["b"]))).toBe("the parameter b must not be blank");
  });
});

describe("idempotency keys", () => {
  test.each<[string, string | undefined, "none" | "optional" | "required", string | undefined]>([
    ["a key", "abc", "optional", "abc"],
    ["255 characters", "k".repeat(255), "required", "k".repeat(255)],
    ["white space around it is dropped", " abc ", "optional", "abc"],
    ["a blank one counts as absent", "  ", "optional", undefined],
    ["none", undefined, "optional", undefined],
    ["any key on a route without keys", "ü", "none", undefined],
  ])("%s", (_, header, use, key) => expect(readIdempotencyKey(header, use)).toBe(key));

  test.each<[string, string | undefined, "optional" | "required", string]>([
    ["256 characters", "k".repeat(256), "optional", "Idempotency-Key must be 1 to 255 visible ASCII characters"],
    ["a blank inside", "a b", "optional", "Idempotency-Key must be 1 to 255 visible ASCII characters"],
    ["beyond ASCII", "é", "optional", "Idempotency-Key must be 1 to 255 visible ASCII characters"],
    ["none where one is required", undefined, "required", "the header Idempotency-Key is required"],
    ["a blank one where one is required", " ", "required", "the header Idempotency-Key is required"],
  ])("refused: %s", (_, header, use, message) => {
    expect(refused(() => readIdempotencyKey(header, use))).toBe(message);
  });
});

describe("JSON bodies", () => {
  const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
  const parse = (text: string, exact = false) => parseJsonObject(Buffer.from(text), exact);

  test("inexact: integers beyond 2^53 are rounded", () => {
    expect(parse('{"seed":9007199254740993}')).toEqual({ seed: 9007199254740992 });
  });

  test("64 levels are allowed", () => {
    expect(Object.keys(parse(nested(BODY_DEPTH_MAX)))).toEqual(["a"]);
  });

  test.each([
    ["NaN", '{"a":NaN}', "the body is not valid JSON"],
    ["a byte order mark", '\uFEFF{"a":1}', "the body is not valid JSON"],
    ["null", "null", "the body must be a JSON object"],
    ["a number", "12345678901234567890", "the body must be a JSON object"],
    ["65 levels", nested(BODY_DEPTH_MAX + 1), "the body is nested deeper than 64 levels"],
    ["__proto__ in escapes", '{"\\u005f_proto__":1}', "the key __proto__ is not allowed"],
  ])("refused: %s", (_, text, message) => {
    expect(refused(() => parse(text))).toBe(message);
    expect(refused(() => parse(text, true))).toBe(message);
  });

  test("a constructor without a prototype is an ordinary key", () => {
    expect(parse('{"constructor":"torch"}')).toEqual({ constructor: "torch" });
  });
});

describe("origins", () => {
  const isAllowedOrigin = createOriginRule(["https://app.example", "https://other.example:8443/"]);

  test.each([
    ["a configured one", "https://app.example", true],
    ["a configured one with a port", "https://other.example:8443", true],
    ["the server's own", "https://api.example", true],
    ["localhost of any port", "http://localhost:5173", true],
    ["127.0.0.1", "http://127.0.0.1:3000", true],
    ["::1", "http://[::1]:3000", true],
    ["another scheme", "http://app.example", false],
    ["another port", "https://app.example:444", false],
    ["a longer host", "https://app.example.evil.test", false],
    ["a host that begins like localhost", "http://localhost.evil.test", false],
    ["null", "null", false],
    ["no URL", "app.example", false],
    ["more than an origin", "https://app.example/path", false],
    ["nothing", "", false],
  ])("%s", (_, origin, expected) => expect(isAllowedOrigin(origin, "https://api.example/")).toBe(expected));
});

describe("base URLs", () => {
  test.each<[string, string | undefined, string, string]>([
    ["the configured one, without its slash", "https://api.example/", "x.test", "https://api.example"],
    ["else what the request says", undefined, "10.0.0.7:8080", "http://10.0.0.7:8080"],
    ["an IPv6 address", undefined, "[::1]:8080", "http://[::1]:8080"],
    ["an invalid host is not repeated", undefined, 'a"/><x', "http://localhost"],
    ["no host", undefined, "", "http://localhost"],
  ])("%s", (_, configured, host, expected) => {
    expect(baseUrlOf(configured, { protocol: "http", host })).toBe(expected);
  });

  test.each([
    ["https://api.example", true],
    ["http://10.0.0.7:8080", true],
    ["http://localhost:8080", false],
    ["http://[::1]:8080", false],
    ["https://localhost", true],
  ])("cookies of %s are secure: %s", (url, expected) => expect(cookieSecure(url)).toBe(expected));

  test.each(["a b", "a/b", "a@b", "a:999999", "[::1", "x".repeat(256)])("%s is not a host", (host) => {
    expect(isHost(host)).toBe(false);
  });
});

test.each([
  ["/runs/5/metrics", ["POST", "GET", "HEAD"]],
  ["/runs/5", ["PATCH"]],
  ["/runs/stop", ["PATCH"]],
  ["/runs/5/", []],
  ["/Runs/5", []],
  ["/runs", []],
  ["/a.json", ["GET", "HEAD"]],
  ["/aXjson", []],
  // Spelled out, and also an id of the other template.
  ["/runs/summary", ["GET", "HEAD"]],
])("the methods of %s are %j", (path, expected) => {
  const methodsOf = createPathMethods([
    { method: "POST", path: "/runs/{run_id}/metrics" },
    { method: "GET", path: "/runs/{run_id}/metrics" },
    { method: "PATCH", path: "/runs/{run_id}" },
    { method: "GET", path: "/a.json" },
    { method: "GET", path: "/runs/summary" },
  ]);
  expect(methodsOf(path)).toEqual(expected);
});

test.each([
  ["gzip", true],
  ["br, GZIP;q=0.5", true],
  ["gzip;q=0", false],
  ["gzip; q=0.000", false],
  ["identity", false],
  ["*", false],
  [undefined, false],
])("Accept-Encoding %s asks for gzip: %s", (header, expected) => expect(acceptsGzip(header)).toBe(expected));

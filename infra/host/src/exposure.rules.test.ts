import { randomBytes } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { exposureFault, guessFaults, isLoopback, isPlaceholder } from "./exposure.rules.ts";

test.each(["127.0.0.1", "127.9.8.7", "::1", "localhost", "LocalHost", "::ffff:127.0.0.1"])(
  "%s is reached by this machine alone",
  (host) => expect(isLoopback(host)).toBe(true),
);

test.each(["0.0.0.0", "::", "10.0.0.7", "192.168.1.4", "fe80::1", "::ffff:10.0.0.1", "tidemark.example", "", "*"])(
  "%j may be reached by others",
  (host) => expect(isLoopback(host)).toBe(false),
);

test.each([
  "change-me",
  "change-me-to-32-random-characters",
  "CHANGE_ME_CHANGE_ME_CHANGE_ME",
  "replace-this-with-a-real-token-8f3a",
  "<your-token-goes-here-please>",
  "a placeholder of a document",
  "example-token-for-the-internal-port",
  "short-Xk92!",
  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
  "0000000000000000",
  "abababababababababababab",
  "my-secret-token-123",
  "password12345678",
  "tidemark-internal-token",
  "bootstrap-token-123",
  "operator-token-0123",
  "12345678901234567890",
  "0123456789abcdef0123456789abcdef".slice(0, 16),
  "abcdefghijklmnopqrst",
  "qwertyuiopasdfghjkl",
])("%j can be guessed", (token) => expect(isPlaceholder(token)).toBe(true));

describe("random text", () => {
  test.each(["base64", "base64url", "hex"] as const)("in %s is a token", (encoding) => {
    for (let i = 0; i < 1000; i += 1) expect(isPlaceholder(randomBytes(24).toString(encoding))).toBe(false);
  });
});

describe("a process", () => {
  const token = randomBytes(24).toString("base64url");
  test("on loopback needs no token", () => {
    expect(exposureFault(["127.0.0.1", "::1"], undefined)).toBeUndefined();
    expect(exposureFault(["127.0.0.1"], "change-me-change-me")).toBeUndefined();
  });
  test("on other addresses needs a token that cannot be guessed, on any port", () => {
    expect(exposureFault(["127.0.0.1", "0.0.0.0"], undefined)).toContain("TIDEMARK_INTERNAL_TOKEN is not set");
    expect(exposureFault(["::"], "change-me-change-me")).toContain("TIDEMARK_INTERNAL_TOKEN can be guessed");
    expect(exposureFault(["0.0.0.0"], token)).toBeUndefined();
  });
  test("names each token that would let others in beyond it, and none that is random or not set", () => {
    const tokens = {
      A_TOKEN: "change-me-change-me",
      B_TOKEN: "bootstrap-token-bootstrap",
      C_TOKEN: token,
      D_TOKEN: undefined,
    };
    expect(guessFaults(["127.0.0.1"], tokens)).toEqual([]);
    expect(guessFaults([], tokens)).toEqual([]);
    expect(guessFaults(["127.0.0.1", "0.0.0.0"], tokens)).toEqual([
      expect.stringContaining("A_TOKEN can be guessed, but this process listens on 0.0.0.0"),
      expect.stringContaining("B_TOKEN can be guessed"),
    ]);
  });
});

import { expect, test } from "@jest/globals";
import { embedCommand, embedFrame, faultOfOrigin } from "./embed-snippet.ts";

test.each([
  ["https://wiki.example.com", true],
  ["https://wiki.example.com/", true],
  ["http://localhost:3000", true],
  ["http://wiki.example.com", false],
  ["https://wiki.example.com/page", false],
  ["https://a:b@wiki.example.com", false],
  ["javascript:alert(1)", false],
  ["wiki", false],
])("%s may be an origin: %s", (text, may) => expect(faultOfOrigin(text) === undefined).toBe(may));

test("a command survives quotes", () => {
  const wish = { runIds: ["1"], origin: "https://a.test/'x", minutes: 15, theme: "dark" } as const;
  const command = embedCommand("https://t.test", wish);
  expect(command).toContain(String.raw`https://a.test/'\''x`);
  expect(command).toContain('"ttl_seconds":900');
  expect(command).not.toMatch(/tm_/);
});

test("a frame cannot be left by its address", () => {
  expect(embedFrame('https://t.test/"><script>')).toContain("&quot;>&lt;script>");
});

import { compileFunction } from "node:vm";
import { expect, test } from "@jest/globals";
import { bundleEmbed } from "@tidemark/web/build";
import { writePage } from "../../http/page.ts";
import { embedPage } from "./routes.ts";

const parts = await bundleEmbed();
const session = {
  theme: "dark",
  expiresAt: "2026-01-02T03:04:05Z",
  allowedParentOrigin: "https://portal.test",
  nowMs: Date.parse("2026-01-02T03:04:00Z"),
};

test("the script is one program of all modules", () => {
  expect(() => compileFunction(parts.script)).not.toThrow();
  expect(parts.script).not.toMatch(/\b(import|export)\b/);
});

test("neither script nor style end before their end, or let texts become markup", () => {
  expect(parts.script + parts.style).not.toMatch(/<\/|<!--|\r/);
  expect(parts.script).not.toMatch(/innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function/);
});

test("the page names its theme and how long it lasts", () => {
  const { text } = writePage(embedPage(parts, session));
  expect(text).toContain('<html lang="en" data-theme="dark" data-lasts-ms="5000">');
  expect(writePage(embedPage(parts, { ...session, nowMs: session.nowMs + 60_000 })).text).toContain(
    'data-lasts-ms="0"',
  );
});

test("only pages of the session's origin may show it", () => {
  const { headers } = writePage(embedPage(parts, session));
  expect(headers["content-security-policy"]).toMatch(/; frame-ancestors https:\/\/portal\.test$/);
  expect(headers).not.toHaveProperty("x-frame-options");
});

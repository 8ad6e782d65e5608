import { expect, test } from "@jest/globals";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { compileFunction } from "node:vm";
import { writePage } from "../../../http/page.ts";
import { pageScript, pageStyle } from "./bundle.ts";
import { embedPage } from "./document.ts";

const session = {
  theme: "dark",
  expiresAt: "2026-01-02T03:04:05Z",
  allowedParentOrigin: "https://portal.test",
  nowMs: Date.parse("2026-01-02T03:04:00Z"),
};

test("the script is one program of all modules", () => {
  const program = pageScript.replaceAll(/^export /gm, "");
  expect(() => compileFunction(program)).not.toThrow();
  expect(pageScript).not.toMatch(/\bimport\b/);
  const modules = readdirSync(join(import.meta.dirname, "client")).filter((file) => /^[^.]+\.ts$/.test(file));
  expect(modules).toHaveLength(9);
});

test("neither script nor style end before their end, or let texts become markup", () => {
  expect(pageScript + pageStyle).not.toMatch(/<\/|<!--|\r/);
  expect(pageScript).not.toMatch(/innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function/);
});

test("the page names its theme and how long it lasts", () => {
  const { text } = writePage(embedPage(session));
  expect(text).toContain('<html lang="en" data-theme="dark" data-lasts-ms="5000">');
  expect(writePage(embedPage({ ...session, nowMs: session.nowMs + 60_000 })).text).toContain('data-lasts-ms="0"');
});

test("only pages of the session's origin may show it", () => {
  const { headers } = writePage(embedPage(session));
  expect(headers["content-security-policy"]).toMatch(/; frame-ancestors https:\/\/portal\.test$/);
  expect(headers).not.toHaveProperty("x-frame-options");
});

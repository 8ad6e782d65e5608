import { createHash } from "node:crypto";
import { expect, test } from "@jest/globals";
import { escapeHtml, writePage } from "./page.ts";

const page = { title: "A & B", style: "p{margin:0}", body: "<p>1</p>" };
const hash = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

test("a page may not be framed, and runs no scripts", () => {
  const { text, headers } = writePage(page);
  expect(text).toContain("<title>A &#38; B</title>");
  expect(text).not.toContain("<script");
  expect(headers).toEqual({
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": `default-src 'none'; style-src ${hash(page.style)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    "x-frame-options": "DENY",
    "cache-control": "private, no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  });
});

test("a page that names an origin may be shown by its pages, and a script may run and call us", () => {
  const { text, headers } = writePage({ ...page, script: "let ä = 1;", framedBy: "https://portal.test" });
  const [, script = ""] = /<script type="module">(.*)<\/script>/s.exec(text)!;
  const [, style = ""] = /<style>(.*)<\/style>/s.exec(text)!;
  expect(headers["content-security-policy"]).toBe(
    `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors https://portal.test`,
  );
  expect(headers).not.toHaveProperty("x-frame-options");
});

test("texts stay texts", () => {
  expect(escapeHtml(`<b a="1" b='2'>&`)).toBe("&#60;b a=&#34;1&#34; b=&#39;2&#39;&#62;&#38;");
  expect(writePage({ ...page, data: { theme: `"><script>` } }).text).toContain(
    'data-theme="&#34;&#62;&#60;script&#62;"',
  );
});

import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { escapeHtml, PAGE_TYPE } from "../http/page.ts";
import type { Bundle } from "./read-bundle.ts";

/** Where the files of the bundle are. */
export const ASSETS = "/assets/";

/** The policy of trusted types that the sanitizer of Markdown makes: nothing else may turn a text into markup. */
const SANITIZER_POLICY = "dompurify";

/**
 * What the page may do (Content Security Policy 3, Trusted Types): run and load what this server sends as files, call this server, and show
 * pictures and media that it made itself. No markup of a text, no frame, no form to elsewhere.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' blob: data:",
  "media-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  `trusted-types ${SANITIZER_POLICY}`,
].join("; ");

/** A page as it is sent; it is the same for all clients and holds no data. */
export type Document = {
  readonly plain: Buffer;
  readonly compressed: Buffer;
  readonly tag: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** Writes the document of a page: what to load, in the order in which the browser needs it, and an empty root. */
export function writeDocument(bundle: Bundle, part: string): Document {
  const at = (name: string): string => escapeHtml(`${ASSETS}${name}`);
  const text = [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">',
    '<meta name="color-scheme" content="light dark"><title>Tidemark</title>',
    `<script src="${at(bundle.theme)}"></script>`,
    `<link rel="stylesheet" href="${at(bundle.style)}">`,
    `<script type="module" src="${at(bundle.entry)}"></script>`,
    ...(bundle.parts[part] ?? []).map((name) => `<link rel="modulepreload" href="${at(name)}">`),
    // Every page asks who is signed in before anything else.
    '<link rel="preload" as="fetch" crossorigin href="/api/auth/session">',
    `<link rel="icon" type="image/svg+xml" href="${at(bundle.icon)}">`,
    '</head><body><div id="app"></div><noscript><p>The dashboard needs JavaScript.</p></noscript></body></html>',
  ].join("");
  const plain = Buffer.from(text);
  return {
    plain,
    compressed: gzipSync(plain),
    tag: createHash("sha256").update(plain).digest("base64url").slice(0, 22),
    headers: {
      "content-type": `${PAGE_TYPE}; charset=utf-8`,
      "content-security-policy": POLICY,
      "cache-control": "no-cache",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-frame-options": "DENY",
    },
  };
}

import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import { acceptsGzip } from "../http/compress.ts";
import { readIfNoneMatch, weakTag } from "../http/range.ts";
import { escapeHtml, PAGE_TYPE } from "../http/page.ts";
import type { Bundle } from "./read-bundle.ts";

/** Answers the requests of browsers for pages and their files. */
export type Dashboard = {
  /** Returns the target of a request without a route: a page, a file of the pages, or undefined for anything else. */
  readonly find: (request: FastifyRequest) => Found | undefined;
};

/** An answer, which is the same for all callers. */
export type Found = {
  /** Its name in the metrics. */
  readonly route: "dashboard page" | "dashboard file";
  readonly send: (request: FastifyRequest, reply: FastifyReply) => void;
};

/**
 * Creates the dashboard of a bundle, for browsers that reach the server below `basePath`. All documents are written at the start: there are as many as
 * kinds of pages.
 */
export function createDashboard(bundle: Bundle, basePath: string): Dashboard {
  const parts = [...Object.keys(bundle.parts), ""];
  const documents = new Map(parts.map((part) => [part, writeDocument(bundle, part, basePath)]));
  return {
    find(request) {
      if (request.method !== "GET" && request.method !== "HEAD") return undefined;
      const path = request.url.split("?", 1)[0]!;
      if (path.startsWith(ASSETS)) return fileOf(bundle, path.slice(ASSETS.length));
      const part = pageOfPath(path);
      const document = part === undefined ? undefined : documents.get(part);
      if (document === undefined) return undefined;
      // A cache must know that programs get another answer.
      if (!wantsHtml(request.headers.accept)) return undefined;
      return { route: "dashboard page", send: (_, reply) => sendDocument(document, request, reply) };
    },
  };
}

function sendDocument(
  { plain, compressed, tag, headers }: Document,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  reply.headers({ ...headers, etag: weakTag(tag), vary: "Accept, Accept-Encoding" });
  send({ plain, compressed, tag }, request, reply);
}

/** A name that is not in the map is never a file; a file of an older bundle is gone, and its page reloads. */
function fileOf({ assets }: Bundle, name: string): Found | undefined {
  const asset = assets.get(name);
  if (asset === undefined) return undefined;
  return {
    route: "dashboard file",
    send: (request, reply) => {
      // The name changes with the contents, so it also serves as a tag.
      const tag = name.replaceAll(".", "-");
      reply.headers({
        "content-type": asset.type,
        "cache-control": "public, max-age=31536000, immutable",
        "cross-origin-resource-policy": "same-origin",
        etag: weakTag(tag),
        vary: "Accept-Encoding",
      });
      send({ plain: asset.plain, compressed: asset.compressed, tag }, request, reply);
    },
  };
}

type Contents = { readonly plain: Buffer; readonly compressed: Buffer; readonly tag: string };

function send({ plain, compressed, tag }: Contents, request: FastifyRequest, reply: FastifyReply): void {
  const known = readIfNoneMatch(request.headers["if-none-match"]);
  if (known.includes(tag) || known.includes("*")) {
    reply.code(304).removeHeader("content-type").send();
    return;
  }
  if (acceptsGzip(request.headers["accept-encoding"])) reply.header("content-encoding", "gzip").send(compressed);
  else reply.send(plain);
}

/** Paths that are pages for a browser, and the part of the bundle that their first view needs. A path part may be anything but empty. */
const PAGES: readonly (readonly [pattern: RegExp, part: string])[] = [
  [/^\/$/, "projects"],
  [/^\/signin$/, "signin"],
  [/^\/auth\/device$/, "device"],
  [/^\/invite$/, "invite"],
  [/^\/p\/[^/]+$/, "project"],
  [/^\/p\/[^/]+\/compare$/, "compare"],
  [/^\/p\/[^/]+\/media$/, "media"],
  [/^\/p\/[^/]+\/traces$/, "traces"],
  [/^\/p\/[^/]+\/artifacts$/, "artifacts"],
  [/^\/p\/[^/]+\/reports$/, "reports"],
  [/^\/p\/[^/]+\/r\/[^/]+(?:\/[^/]+)?$/, "run"],
  [/^\/reports\/[^/]+$/, "report"],
  [/^\/r\/[^/]+$/, "shared-report"],
  [/^\/settings(?:\/[^/]+)?$/, "settings"],
  // The page itself says that there is no such page, in the style of the others.
  [/^\/(?:p|reports|r|settings)\/.+$/, ""],
];

/**
 * Returns the part of the bundle that a path shows, empty when no part is known for it; undefined where the path is not a page. A trailing slash is not a
 * part.
 */
function pageOfPath(path: string): string | undefined {
  const trimmed = path.replace(/(?<=[^/])\/$/, "");
  return PAGES.find(([pattern]) => pattern.test(trimmed))?.[1];
}

/** Whether a client wants a page rather than a document for programs: it names HTML itself, as browsers do when they open an address (RFC 9110, Accept). */
export function wantsHtml(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  return accept.split(",").some((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    return type === PAGE_TYPE && !parameters.some((part) => /^q=0(?:\.0{0,3})?$/.test(part));
  });
}

/** Where the files of the bundle are. */
const ASSETS = "/assets/";

/** Addresses that begin as those of pages and files do. */
export const ownPaths = [ASSETS, "/signin", "/auth", "/invite", "/p", "/reports", "/r", "/settings"] as const;

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
type Document = {
  readonly plain: Buffer;
  readonly compressed: Buffer;
  readonly tag: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** Writes the document of a page: what to load, in the order in which the browser needs it, and an empty root. */
function writeDocument(bundle: Bundle, part: string, basePath: string): Document {
  const at = (name: string): string => escapeHtml(`${basePath}${ASSETS}${name}`);
  const text = [
    `<!doctype html><html lang="en"${basePath === "" ? "" : ` data-base="${escapeHtml(basePath)}"`}>`,
    '<head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">',
    '<meta name="color-scheme" content="light dark"><title>Tidemark</title>',
    `<script src="${at(bundle.theme)}"></script>`,
    `<link rel="stylesheet" href="${at(bundle.style)}">`,
    // Pages that sign in name it, and load it when they are left.
    `<link rel="${bundle.signInPages.includes(part) ? "page-style" : "stylesheet"}" href="${at(bundle.pageStyle)}">`,
    // The others name it, and load it when they are left for a page that needs it.
    `<link rel="${bundle.latePages.includes(part) ? "stylesheet" : "late-style"}" href="${at(bundle.lateStyle)}">`,
    `<script type="module" src="${at(bundle.entry)}"></script>`,
    ...(bundle.parts[part] ?? []).map((name) => `<link rel="modulepreload" href="${at(name)}">`),
    // Every page asks who is signed in before anything else.
    `<link rel="preload" as="fetch" crossorigin href="${escapeHtml(basePath)}/api/auth/session">`,
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

import type { FastifyReply, FastifyRequest } from "fastify";
import { acceptsGzip } from "../http/compress.ts";
import { readIfNoneMatch, weakTag } from "../http/range.ts";
import { ASSETS, writeDocument, type Document } from "./document.ts";
import { pageOfPath, wantsHtml } from "./page-paths.ts";
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

/** Creates the dashboard of a bundle. All documents are written at the start: there are as many as kinds of pages. */
export function createDashboard(bundle: Bundle): Dashboard {
  const documents = new Map([...Object.keys(bundle.parts), ""].map((part) => [part, writeDocument(bundle, part)]));
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

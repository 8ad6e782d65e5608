import type { FastifyReply, FastifyRequest } from "fastify";
import { unauthenticated } from "../auth/callers.ts";
import { acceptsGzip } from "../http/compress.ts";
import type { Identity } from "@tidemark/proto/common/v1/common";
import type { KeptExport, Source, Spool, Whose } from "./spool.ts";

/** The exports that one request may have: the exports of its caller, under its address. They are released when its answer has ended. */
export type RequestExports = {
  /** Begins an export, which is kept. @throws as `Spool.begin` */
  readonly begin: (begin: () => Promise<Source>) => Promise<KeptExport>;
  /**
   * Finds the export that the request wants a part of: with `If-Range` the one with this tag, without it the latest. The latter not for clients that accept
   * gzip: they may have bytes of a compressed answer.
   */
  readonly find: () => KeptExport | undefined;
};

/** Opens the exports of a request. */
export function exportsOf(
  { identity, route }: { readonly identity: Identity | undefined; readonly route: { readonly path: string } },
  request: FastifyRequest,
  reply: FastifyReply,
  { spool }: { readonly spool: Pick<Spool, "begin" | "find"> },
): RequestExports {
  const whose = (): Whose => {
    if (identity === undefined) throw unauthenticated("missing bearer token");
    const { orgId, kind, credentialId, projectId, userId } = identity;
    return {
      orgId,
      caller: [kind, credentialId, projectId, userId].join(" "),
      address: `${route.path}?${request.query as string}`,
    };
  };
  const released = (kept: KeptExport): KeptExport => {
    if (reply.raw.closed) kept.release();
    else reply.raw.once("close", kept.release);
    return kept;
  };
  return {
    begin: async (begin) => released(await spool.begin(whose(), begin)),
    find() {
      const { range, "if-range": condition, "accept-encoding": encodings } = request.headers;
      if (request.method !== "GET" || range === undefined) return undefined;
      if (condition === undefined && acceptsGzip(encodings)) return undefined;
      const tag = condition === undefined ? undefined : (strongTag.exec(String(condition))?.[1] ?? "");
      const kept = spool.find(whose(), tag);
      return kept && released(kept);
    },
  };
}

/** The only condition that holds: a strong tag of ours (RFC 9110, If-Range). */
const strongTag = /^"([\w-]+)"$/;

import type { FastifyRequest } from "fastify";
import { AppError } from "@tidemark/errors";
import type { OriginRule } from "../http/origin.ts";
import type { Route } from "../route.ts";

/**
 * Guards requests with effects, which another site could make a browser send: they must name an
 * allowed `Origin` and not originate from another site. Reads need neither.
 * @throws forbidden
 */
export function checkOrigin(
  route: Pick<Route, "method">,
  { isAllowedOrigin }: { readonly isAllowedOrigin: OriginRule },
  { headers }: Pick<FastifyRequest, "headers">,
  baseUrl: string,
): void {
  if (route.method === "GET") return;
  const { origin } = headers;
  if (origin === undefined) throw new AppError("forbidden", "browser sessions must send an Origin header");
  if (!isAllowedOrigin(origin, baseUrl) || headers["sec-fetch-site"] === "cross-site") {
    throw new AppError("forbidden", "this Origin may not use browser sessions");
  }
}

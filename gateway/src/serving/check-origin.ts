import { AppError } from "@tidemark/errors";
import type { FastifyRequest } from "fastify";
import type { Route } from "../route.ts";
import type { ServingContext } from "./context.ts";

/**
 * Guards requests with effects that a browser might have been tricked into: they must name an
 * allowed `Origin` and not come from another site. Reading needs neither.
 * @throws forbidden
 */
export function checkOrigin(
  route: Pick<Route, "method">,
  { mayCome }: Pick<ServingContext, "mayCome">,
  { headers }: Pick<FastifyRequest, "headers">,
  baseUrl: string,
): void {
  if (route.method === "GET") return;
  const { origin } = headers;
  if (origin === undefined) throw new AppError("forbidden", "browser sessions must send an Origin header");
  if (!mayCome(origin, baseUrl) || headers["sec-fetch-site"] === "cross-site") {
    throw new AppError("forbidden", "this Origin may not use browser sessions");
  }
}

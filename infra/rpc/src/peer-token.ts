import { timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "@tidemark/errors";

/** Header in which a process proves that it belongs to the installation. In lower case, as Node gives it. */
export const TOKEN_HEADER = "tidemark-internal-token";

/** Returns whether the headers of a request present `token`, in a time that does not reveal how much of it is right. Without a token all do. */
export function isPeer(headers: IncomingHttpHeaders, token: string | undefined): boolean {
  if (token === undefined) return true;
  const given = headers[TOKEN_HEADER];
  const expected = Buffer.from(token);
  const actual = Buffer.from(typeof given === "string" ? given : "");
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

/** Returns the error of a request without the token. Both servers answer with it before they read a byte of the body. */
export function notAPeer(): AppError {
  return new AppError("unauthenticated", "this port is for the parts of the service only");
}

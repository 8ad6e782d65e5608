import type { IncomingHttpHeaders } from "node:http";
import { headerNames, sessionCookie } from "../header-names.ts";

/** The credential that a request brings, before anybody has looked at it. */
export type Presented =
  | { readonly kind: "none" }
  | { readonly kind: "bearer"; readonly token: string }
  /** An `Authorization` header of another scheme. */
  | { readonly kind: "unknown_scheme" }
  | { readonly kind: "cookie"; readonly token: string };

const none: Presented = { kind: "none" };

/** Reads the credential of a request. `Authorization` wins over the session cookie. */
export function presentedBy(headers: IncomingHttpHeaders): Presented {
  const { authorization } = headers;
  if (authorization !== undefined && authorization.trim() !== "") {
    const token = /^bearer +(\S+)$/i.exec(authorization.trim())?.[1];
    return token === undefined ? { kind: "unknown_scheme" } : { kind: "bearer", token };
  }
  const token = sessionTokenOf(headers.cookie);
  return token === undefined ? none : { kind: "cookie", token };
}

/** The session cookie's value in a `Cookie` header; `undefined` when it is not there or empty. */
export function sessionTokenOf(cookie: string | undefined): string | undefined {
  if (cookie === undefined) return undefined;
  for (const pair of cookie.split(";")) {
    const equals = pair.indexOf("=");
    if (equals !== -1 && pair.slice(0, equals).trim() === sessionCookie) {
      const value = pair.slice(equals + 1).trim();
      return value === "" ? undefined : value;
    }
  }
  return undefined;
}

/** The operator's token under either of its names; `undefined` when it was not sent. */
export function bootstrapTokenOf(headers: IncomingHttpHeaders): string | undefined {
  for (const name of headerNames.bootstrapToken) {
    const value = headers[name];
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}

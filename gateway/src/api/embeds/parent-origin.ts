import { badRequest } from "@tidemark/errors";
import { isLoopback } from "../../http/origin.ts";

/** Hosts that may appear in a Content-Security-Policy, whose grammar has no place for addresses in brackets (CSP 3, host-source). */
const HOST_SHAPE = /^[a-z0-9.-]+$/;

const FIELD = "allowed_parent_origin";

/**
 * Reads the origin of the pages that may show an embed session: scheme and host, and a port where it is not the usual one. Over HTTPS it must be another host
 * than ours, and HTTPS as well; a server that is reached over plain HTTP also takes loopback origins.
 * @throws bad_request
 */
export function readParentOrigin(text: string, ownBaseUrl: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const own = new URL(ownBaseUrl);
  if (url === undefined || !isBareOrigin(text, url)) {
    throw badRequest(`${FIELD} must be an origin such as https://portal.example, without a path`, FIELD);
  }
  const isHosted = own.protocol === "https:";
  const isAllowed = url.protocol === "https:" || (!isHosted && url.protocol === "http:" && isLoopback(url.href));
  if (!isAllowed) throw badRequest(`${FIELD} must begin with https://`, FIELD);
  if (isHosted && url.hostname === own.hostname) throw badRequest(`${FIELD} must not be this server`, FIELD);
  return url.origin;
}

function isBareOrigin(text: string, url: URL): boolean {
  const bare =
    url.username === "" && url.password === "" && url.pathname === "/" && url.search === "" && url.hash === "";
  return bare && HOST_SHAPE.test(url.hostname) && /^https?:\/\/[^/?#@\\]+$/i.test(text);
}

import { randomUUID } from "node:crypto";
import { headerNames } from "../header-names.ts";

const shape = /^[A-Za-z0-9._:-]{1,128}$/;

/** Beginnings of credentials, ours and well-known ones: an id that looks like one must not reach logs and answers. */
const secretLooking =
  /^(?:tm_|instantml_|sk_|sk-|pk_|rk_|gh[opsur]_|github_pat_|glpat-|AKIA|ASIA|AIza|xox[a-z]-|npm_|pypi-|hf_|eyJ)/i;

/**
 * The id under which a request is known everywhere: the caller's `x-request-id` if it is 1 to 128
 * characters of `[A-Za-z0-9._:-]` and does not look like a credential, otherwise a new UUID.
 */
export function requestIdOf(request: {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}): string {
  const sent = request.headers[headerNames.requestId];
  if (typeof sent === "string" && shape.test(sent) && !secretLooking.test(sent)) return sent;
  return randomUUID();
}

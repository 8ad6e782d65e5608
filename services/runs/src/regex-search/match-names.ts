import { badRequest } from "@tidemark/errors";
import { checkRegex, compileRegex } from "@tidemark/regex";

/** A request for the names that a regular expression matches. */
export type NameSearch = {
  readonly orgId: string;
  readonly pattern: string;
  /** Joined by NUL, which no name has: one text costs less to send to a thread than a list. */
  readonly names: string;
  /** The search ends after this many matches. */
  readonly foundMax: number;
};

/**
 * Returns the places of the first names that the pattern matches, counted from 0. It blocks its thread, so it runs in a search thread.
 * @throws bad_request with field `q`
 */
export function matchNames({ pattern, names, foundMax }: NameSearch): string[] {
  const answer = checkRegex(pattern);
  if (answer === "matches_empty") throw badRequest("the regular expression of q matches the empty text", "q");
  if (answer === "invalid") throw badRequest("the regular expression of q is not valid", "q");
  const regex = compileRegex(pattern);
  const found: string[] = [];
  if (names === "") return found;
  for (const [place, name] of names.split("\0").entries()) {
    if (found.length === foundMax) break;
    if (regex.test(name)) found.push(String(place));
  }
  return found;
}

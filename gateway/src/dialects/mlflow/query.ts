import type { RouteInput } from "../../route.ts";
import { readPairs } from "../../http/query.ts";

/** Reads a query as the fields of a message: a name that is repeated is a list of texts. Blank values stay. @throws bad_request */
export function readMlflowQuery(text: string): RouteInput["body"] {
  const fields = Object.create(null) as Record<string, string | string[]>;
  for (const [name, value] of readPairs(text)) {
    const before = fields[name];
    fields[name] = before === undefined ? value : [before, value].flat();
  }
  return fields;
}

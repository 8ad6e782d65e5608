import type { RouteInput } from "../route.ts";
import { canonicalUuid } from "./fields/text.ts";

/** Returns the id in a part of the path in lower case; a text that is not a UUID stays unchanged and finds nothing. */
export function pathId({ params }: RouteInput, part: string): string {
  const text = params[part] ?? "";
  return canonicalUuid(text) ?? text;
}

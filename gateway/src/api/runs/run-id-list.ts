import { badRequest } from "@tidemark/errors";
import type { Field } from "../fields/field.ts";
import { UUID_SHAPE, canonicalUuid, trimmedPattern } from "../fields/text.ts";

const ID = `(?!0{8}-0{4}-0{4}-0{4}-0{12})${UUID_SHAPE.source.slice(1, -1)}`;

/** Describes ids of 1 to `max` different runs in a query, separated by commas; they are read in their order, repeated ones once. */
export function runIdList(max: number, description: string): Field<readonly string[] | undefined> {
  const check = (value: unknown, name: string): string[] => {
    const parts = String(value)
      .split(",")
      .map((part) => part.trim());
    const found = new Set(parts.filter((part) => part !== "").map((part) => requireUuid(part, name)));
    if (found.size === 0) throw badRequest("run_ids is required", "run_ids");
    if (found.size > max) {
      throw badRequest(`${name} may name at most ${max} runs`, name);
    }
    return [...found];
  };
  const one = trimmedPattern(ID).slice(1, -1);
  const none = trimmedPattern("").slice(1, -1);
  const schema = { type: "string", pattern: `^(?:${none},)*${one}(?:,(?:${one}|${none}))*$`, description };
  return { schema, required: false, check, absent: () => undefined };
}

function requireUuid(part: string, name: string): string {
  const id = canonicalUuid(part);
  if (id === undefined) throw badRequest(`${name} must be UUIDs, separated by commas`, name);
  return id;
}

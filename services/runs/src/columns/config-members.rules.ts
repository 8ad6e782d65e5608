import { isExactNumber, type ExactJson, type ExactObject } from "@tidemark/documents";
import { isColumnPath } from "./column.rules.ts";

/** An object of a config that is being walked. */
type Level = { readonly prefix: string; readonly members: readonly (readonly [string, ExactJson])[]; next: number };

/**
 * Yields the values of a config that are not objects, in order, with their paths: nested keys are joined by dots. A path that is too long for the
 * name of a column is yielded with any value it has, and nothing below it is visited: a long key would be copied for each of its members.
 * There is no generator for each level, because every value would go through all of them.
 */
export function* membersOf(
  config: ExactObject,
  prefix = "",
): Generator<readonly [path: string, value: ExactJson, isTooLong: boolean]> {
  const levels: Level[] = [{ prefix, members: Object.entries(config), next: 0 }];
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const member = level.members[level.next];
    level.next += 1;
    if (member === undefined) {
      levels.pop();
      continue;
    }
    const [key, value] = member;
    const path = level.prefix + key;
    if (!isColumnPath(path)) yield [path, value, true];
    else if (isObject(value)) levels.push({ prefix: `${path}.`, members: Object.entries(value), next: 0 });
    else yield [path, value, false];
  }
}

/** Returns whether a value of a config is an object. */
export function isObject(value: ExactJson): value is ExactObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

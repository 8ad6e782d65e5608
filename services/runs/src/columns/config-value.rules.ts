import { isExactNumber, type ExactJson, type ExactObject } from "@tidemark/documents";
import { documentPaths, isColumnPath } from "./column.rules.ts";

/** Returns the value that a config has at a path: at the first of the places of `documentPaths` that it has; undefined: at none of them. */
export function configValueAt(config: ExactJson, path: string): ExactJson | undefined {
  for (const keys of documentPaths(path)) {
    let value: ExactJson | undefined = config;
    for (const key of keys) value = memberOf(value, key);
    if (value !== undefined) return value;
  }
  return undefined;
}

function memberOf(value: ExactJson | undefined, key: string): ExactJson | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value) || isExactNumber(value)) return undefined;
  return Object.hasOwn(value, key) ? (value as Record<string, ExactJson>)[key] : undefined;
}

/**
 * Returns whether the JSON of a value is certainly longer than `charactersMax`: it adds up the minimum length of each part, and ends as soon as that is more.
 * Writing a value only to find it too long takes longer the larger the value is, for each column that leads into it.
 */
export function isCertainlyLonger(value: ExactJson, charactersMax: number): boolean {
  return charactersLeft(value, charactersMax) < 0;
}

function charactersLeft(value: ExactJson, characters: number): number {
  if (typeof value === "string") return characters - value.length - 2;
  if (typeof value !== "object" || value === null || isExactNumber(value)) return characters - 1;
  let left = characters;
  if (Array.isArray(value)) {
    for (const item of value as readonly ExactJson[]) {
      left = charactersLeft(item, left - 1);
      if (left < 0) break;
    }
    return left;
  }
  const object = value as ExactObject;
  for (const key in object) {
    left = charactersLeft(object[key]!, left - key.length - 4);
    if (left < 0) break;
  }
  return left;
}

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

import { badRequest } from "@tidemark/errors";
import { isExactNumber, type ExactJson, type ExactObject } from "@tidemark/documents";
import {
  COLUMN_PATH_BYTES_MAX,
  isColumnPath,
  readColumn,
  type Column,
  type DocumentColumn,
} from "@tidemark/values/run-search";

/** Maximum number of columns of a table. */
const COLUMNS_MAX = 50;

/** Reads the columns of a table. @throws bad_request with field `columns` */
export function readColumns(names: readonly string[]): readonly Column[] {
  if (names.length > COLUMNS_MAX) throw badRequest(`columns must name at most ${COLUMNS_MAX} columns`, "columns");
  return names.map((name) => {
    const column = readColumn(name);
    if (column !== undefined) return column;
    throw badRequest(
      `columns must be config.<path>, metrics.<key> or attributes.<path>, with at most ${COLUMN_PATH_BYTES_MAX} bytes behind the first point`,
      "columns",
    );
  });
}

/** Maximum number of ways to split a path that are tried; a path of more than six names is tried whole and split at every dot. */
const NAMES_SPLIT_MAX = 6;

/**
 * Returns where a document may hold the value of a path, best first: the key that is the whole path, then nested keys, those with a longer first
 * key before those with a shorter one. `a.b.c` is `["a.b.c"]`, `["a.b", "c"]`, `["a", "b.c"]`, `["a", "b", "c"]`.
 */
export function documentPaths(path: string): readonly (readonly string[])[] {
  const names = path.split(".");
  if (names.length > NAMES_SPLIT_MAX) return [[path], names];
  const splits = (from: number): string[][] => {
    const found: string[][] = [[names.slice(from).join(".")]];
    for (let end = names.length - 1; end > from; end -= 1) {
      const first = names.slice(from, end).join(".");
      for (const rest of splits(end)) found.push([first, ...rest]);
    }
    return found;
  };
  return splits(0);
}

/** Separates the keys of a place in a config; it occurs in no key of a document, because keys contain it escaped. */
const KEY_END = "\u0001";

/** Returns the places of a column in a config, as `runs.config_value` takes them. */
export function placesOf({ kind, path }: DocumentColumn): readonly string[] {
  return kind === "config" ? documentPaths(path).map((keys) => keys.join(KEY_END)) : [];
}

/** Returns the paths of the attributes that a column reads, best first: of `config` those that the SDK's `log_config` writes. */
export function attributePaths({ kind, path }: DocumentColumn): readonly string[] {
  if (kind === "attributes") return [path];
  return [...new Set([`config/${path}`, `config/${path.replaceAll(".", "/")}`])];
}

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

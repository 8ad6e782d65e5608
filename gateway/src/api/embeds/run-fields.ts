import type { Run } from "@tidemark/proto/runs/v1/runs";
import { isObject } from "../fields/field.ts";

/** Fields of runs by which panels arrange them; absent where no field fits. */
export type RunFields = {
  /** A number that differs among the runs. */
  readonly x?: string;
  /** A text or truth value with a few different values. */
  readonly group?: string;
  /** The seed of the runs. */
  readonly replicate?: string;
};

/** Larger documents are not looked at, nor more of their members. */
const CONFIG_BYTES_MAX = 16 * 1024;
const LEAVES_MAX = 200;
const DEPTH_MAX = 4;

/** How many different values make a group. */
const GROUP_VALUES = { min: 2, max: 12 };

const SEED_SHAPE = /(?:^|[/_.-])seed$/i;

const utf8 = new TextDecoder();

/** Chooses the fields of the config of runs that fit, the first ones by their place in it. */
export function chooseFields(runs: readonly Run[]): RunFields {
  const values = new Map<string, unknown[]>();
  for (const { configJson } of runs) {
    if (configJson.length > CONFIG_BYTES_MAX) continue;
    for (const [pointer, value] of leavesOf(JSON.parse(utf8.decode(configJson)) as unknown)) {
      const known = values.get(pointer);
      if (known === undefined) values.set(pointer, [value]);
      else known.push(value);
    }
  }
  const find = (fits: (pointer: string, found: readonly unknown[]) => boolean): string | undefined => {
    for (const [pointer, found] of values) if (fits(pointer, found)) return `config:${encodeURIComponent(pointer)}`;
    return undefined;
  };
  const x = find((pointer, found) => !SEED_SHAPE.test(pointer) && isAll(found, "number") && new Set(found).size > 1);
  const group =
    find((_, found) => (isAll(found, "string") || isAll(found, "boolean")) && isGroup(found)) ?? groupOfRun(runs);
  const replicate = find((pointer, found) => SEED_SHAPE.test(pointer) && found.every((value) => !isObject(value)));
  return {
    ...(x === undefined ? {} : { x }),
    ...(group === undefined ? {} : { group }),
    ...(replicate === undefined ? {} : { replicate }),
  };
}

function groupOfRun(runs: readonly Run[]): string | undefined {
  if (isGroup(runs.flatMap(({ tags }) => tags.slice(0, 1)))) return "run:first_tag";
  return isGroup(runs.map(({ status }) => status)) ? "run:status" : undefined;
}

function isAll(values: readonly unknown[], type: "number" | "string" | "boolean"): boolean {
  return values.every((value) => typeof value === type);
}

function isGroup(values: readonly unknown[]): boolean {
  const { size } = new Set(values);
  return size >= GROUP_VALUES.min && size <= GROUP_VALUES.max;
}

/** Returns the members of a document that are not objects or lists, by their JSON pointers (RFC 6901). */
function leavesOf(document: unknown): [string, unknown][] {
  const leaves: [string, unknown][] = [];
  const walk = (value: unknown, pointer: string, depth: number): void => {
    if (leaves.length >= LEAVES_MAX || depth > DEPTH_MAX || Array.isArray(value)) return;
    if (!isObject(value)) {
      leaves.push([pointer, value]);
      return;
    }
    for (const [key, member] of Object.entries(value)) {
      if (key.isWellFormed()) walk(member, `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, depth + 1);
    }
  };
  walk(document, "", 0);
  return leaves;
}

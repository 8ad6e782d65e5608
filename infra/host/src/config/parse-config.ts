import { readFileSync } from "node:fs";
import type { ConfigGroups, ConfigOf } from "./define-config.ts";
import type { Field, FieldReading, FieldValue } from "./fields.ts";

/** Names with this prefix belong to the product: an unknown one is a typing mistake, not a variable of another program. */
const prefix = "TIDEMARK_";

/** The environment that `parseConfig` takes: `process.env`, or a literal in a test. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Thrown by `parseConfig`. `faults` has one sentence for each fault, which names its variable; the message lists all of them.
 */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(
      `The configuration has ${faults.length === 1 ? "a fault" : `${faults.length} faults`}:\n  ${faults.join("\n  ")}`,
    );
    this.faults = faults;
  }
}

/**
 * Reads every setting of every group from `env` and returns the values, group by group, with the types of the fields.
 *
 * All groups are read before anything is thrown, so that one start shows every fault: a missing required setting, a
 * value outside its bounds, an unreadable secret file, a secret given twice, and any `TIDEMARK_*` name that no group
 * knows (with the nearest known one). A blank variable counts as not set. `<NAME>_FILE` is read for secrets only; one
 * line break at its end is dropped. `alsoKnown` lists names that the launcher reads, or modules that run in
 * another process with the same environment.
 *
 * Throws `ConfigError` for faults of the environment, `TypeError` when two groups describe one variable differently.
 */
export function parseConfig<const G extends ConfigGroups>(
  groups: G,
  env: Environment,
  options: { readonly alsoKnown?: readonly string[] } = {},
): { readonly [K in keyof G]: ConfigOf<G[K]> } {
  const fields = fieldsByVariable(groups);
  const faults: string[] = [];
  const readings = new Map<string, FieldValue>();
  for (const field of fields.values()) {
    const reading = readField(field, env);
    if (reading.ok) readings.set(field.env, reading.value);
    else faults.push(`${field.env} ${reading.fault}`);
  }
  faults.push(...unknownNames(fields, env, options.alsoKnown ?? []));
  if (faults.length > 0) throw new ConfigError(faults);

  const values = Object.entries(groups).map(([name, group]) => [
    name,
    Object.fromEntries(Object.entries(group).map(([key, field]) => [key, readings.get(field.env)])),
  ]);
  // Built entry by entry from the same keys; the compiler cannot follow Object.fromEntries.
  return Object.fromEntries(values) as { readonly [K in keyof G]: ConfigOf<G[K]> };
}

/** Returns every variable that the groups name, including `<NAME>_FILE` of secrets, for `alsoKnown` of another process. */
export function configNames(groups: ConfigGroups): readonly string[] {
  return [...fieldsByVariable(groups).values()].flatMap((field) =>
    field.kind === "secret" ? [field.env, `${field.env}_FILE`] : [field.env],
  );
}

/** Returns the distinct fields of all groups. Several groups may have the same variable if they describe it alike. */
export function fieldsByVariable(groups: ConfigGroups): ReadonlyMap<string, Field<FieldValue>> {
  const fields = new Map<string, Field<FieldValue>>();
  for (const field of Object.values(groups).flatMap((group) => Object.values(group))) {
    const other = fields.get(field.env);
    if (other && JSON.stringify(other) !== JSON.stringify(field))
      throw new TypeError(`${field.env} is described in two different ways`);
    fields.set(field.env, field);
  }
  return fields;
}

function readField(field: Field<FieldValue>, env: Environment): FieldReading<FieldValue> {
  const found = findText(field, env);
  if (!found.ok) return found;
  if (found.value !== undefined) return field.read(found.value);
  if (!field.required) return { ok: true, value: field.default };
  return { ok: false, fault: `is not set: ${field.help}` };
}

function findText(field: Field<FieldValue>, env: Environment): FieldReading<string | undefined> {
  const direct = notBlank(env[field.env]);
  const file = field.kind === "secret" ? notBlank(env[`${field.env}_FILE`]) : undefined;
  if (file === undefined) return { ok: true, value: direct };
  if (direct !== undefined) return { ok: false, fault: `and ${field.env}_FILE are both set; one is enough` };
  try {
    return { ok: true, value: readFileSync(file, "utf8").replace(/\r?\n$/, "") };
  } catch (cause) {
    const { code = "unknown" } = cause as NodeJS.ErrnoException;
    return { ok: false, fault: `cannot be read from the file of ${field.env}_FILE (${code})` };
  }
}

function* unknownNames(
  fields: ReadonlyMap<string, Field<FieldValue>>,
  env: Environment,
  alsoKnown: readonly string[],
): Iterable<string> {
  const known = new Set(alsoKnown);
  for (const field of fields.values()) {
    known.add(field.env);
    if (field.kind === "secret") known.add(`${field.env}_FILE`);
  }
  const strangers = Object.keys(env).filter((name) => name.startsWith(prefix) && !known.has(name));
  for (const name of strangers.toSorted()) {
    if (name.endsWith("_FILE") && known.has(name.slice(0, -"_FILE".length))) {
      yield `${name} is not read: only secrets come from files`;
      continue;
    }
    const nearest = nearestName(name, known);
    yield `${name} is not known${nearest === undefined ? "" : `; did you mean ${nearest}?`}`;
  }
}

function notBlank(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === "" ? undefined : value;
}

/**
 * Returns the known name that a mistyped one most likely means, or `undefined` if none is near. Near means that at most a
 * third of the letters differ (insertions, deletions, replacements and swaps of neighbors count one each).
 */
export function nearestName(mistyped: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.floor(mistyped.length / 3) + 1;
  for (const name of known) {
    const distance = editDistance(mistyped, name);
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/** Returns the optimal string alignment distance; keeps three rows of the matrix. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let cost = Math.min(replaced, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, (beforeLast[j - 2] ?? cost) + 1);
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}

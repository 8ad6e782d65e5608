import type { Field, FieldValue } from "./fields.ts";

/** The settings of one module: property name to field. */
export type ConfigGroup = Readonly<Record<string, Field<FieldValue>>>;

/** Every group of a process, by module name; what `parseConfig` and `renderConfigTable` take. */
export type ConfigGroups = Readonly<Record<string, ConfigGroup>>;

/** The parsed settings of a group: `{ port: number; databaseUrl: string; ... }`. */
export type ConfigOf<G extends ConfigGroup> = {
  readonly [K in keyof G]: G[K] extends Field<infer T> ? T : never;
};

/**
 * Names the settings of one module and returns them unchanged, with their types kept. Throws `TypeError` on a mistake
 * of the author: one variable named twice, or a default of a URL, list or number out of its own bounds.
 */
export function defineConfig<const G extends ConfigGroup>(group: G): G {
  const seen = new Set<string>();
  for (const field of Object.values(group)) {
    if (seen.has(field.env)) throw new TypeError(`${field.env} is named twice in one group`);
    seen.add(field.env);
    if (field.default === undefined) continue;
    const reading = field.read(writeValue(field.default));
    if (!reading.ok) throw new TypeError(`the default of ${field.env} ${reading.fault}`);
  }
  return group;
}

/** A value as it would be written in the environment. */
export function writeValue(value: Exclude<FieldValue, undefined>): string {
  return typeof value === "object" ? value.join(",") : String(value);
}

import { bool, int, text, type Field, type FieldValue } from "./fields.ts";

/** The settings of one module: property name to field. */
export type ConfigGroup = Readonly<Record<string, Field<FieldValue>>>;

/** Every group of a process, by module name; the input of `parseConfig` and `renderConfigTable`. */
export type ConfigGroups = Readonly<Record<string, ConfigGroup>>;

/** The parsed settings of a group: `{ port: number; databaseUrl: string; ... }`. */
export type ConfigOf<G extends ConfigGroup> = {
  readonly [K in keyof G]: G[K] extends Field<infer T> ? T : never;
};

/**
 * Returns the settings of one module unchanged, with their types. Throws `TypeError` for a mistake of the author: a
 * variable that is named twice, or a default of a URL, list or number that is outside its own bounds.
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

/** Returns a value as it would be written in the environment. */
export function writeValue(value: Exclude<FieldValue, undefined>): string {
  return typeof value === "object" ? value.join(",") : String(value);
}

/** Settings that several modules read. They are described here once, because a variable has one description. */
export const sharedFields = {
  limits: bool({
    env: "TIDEMARK_LIMITS",
    default: true,
    help: "Rate limits and plan quotas. Off: nothing is refused for them and no rate limit header is sent; what is used is counted all the same, and size limits stay.",
  }),
  plansFile: text({
    env: "TIDEMARK_PLANS_FILE",
    optional: true,
    help: "JSON file with any of free, pro, premium and any of their fields, which GET /api/usage shows; replaces those of the hosted plans.",
  }),
  deletionGraceDays: int({
    env: "TIDEMARK_DELETION_GRACE_DAYS",
    help: "Days for which deleted runs, projects and organizations can be restored, before they are removed permanently. Answers to requests with a key are kept for up to 15 days, and must be gone by then.",
    default: 30,
    min: 15,
    max: 3650,
  }),
  removalSeconds: int({
    env: "TIDEMARK_REMOVAL_SECONDS",
    default: 60,
    min: 1,
    max: 86_400,
    help: "Seconds between two looks for what is no longer needed, which is then removed: deleted runs, projects and organizations whose time is over, uploads, artifact versions and their bytes. Tests take less.",
  }),
  runsRemembered: int({
    env: "TIDEMARK_RUNS_REMEMBERED",
    default: 50_000,
    min: 1,
    max: 10_000_000,
    help: "Runs whose organization and project a module keeps in memory, about 250 bytes each.",
  }),
} as const;

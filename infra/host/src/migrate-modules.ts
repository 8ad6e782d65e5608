import { migrate, platformMigrations } from "@tidemark/pg";
import type { ModuleDefinition } from "./module.ts";

/**
 * Brings the shared schema and those of the modules up to date, in the order of the modules.
 * Returns `<schema>/<file>` of what was applied. Several processes may do this simultaneously.
 */
export async function migrateModules(ownerUrl: string, modules: readonly ModuleDefinition[]): Promise<string[]> {
  const sets = modules.flatMap(({ migrations }) => (migrations === undefined ? [] : [migrations]));
  const unique = [...new Map(sets.map((set) => [set.schema, set])).values()];
  return (await migrate(ownerUrl, [platformMigrations, ...unique])).applied;
}

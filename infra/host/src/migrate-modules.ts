import { migrate, platformMigrations, type MigrationSet } from "@tidemark/pg";
import type { ModuleDefinition } from "./module.ts";

/**
 * Brings the shared schema and those of the modules up to date, in the order of the modules.
 * Returns `<schema>/<file>` of each applied migration. Several processes may do this simultaneously.
 */
export async function migrateModules(ownerUrl: string, modules: readonly ModuleDefinition[]): Promise<string[]> {
  return (await migrate(ownerUrl, [platformMigrations, ...migrationsOf(modules)])).applied;
}

/** Returns the migrations of the schemas that the modules own, each once. */
export function migrationsOf(modules: readonly ModuleDefinition[]): readonly MigrationSet[] {
  const sets = modules.flatMap(({ migrations }) => (migrations === undefined ? [] : [migrations]));
  return [...new Map(sets.map((set) => [set.schema, set])).values()];
}

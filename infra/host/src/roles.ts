import type { ModuleDefinition } from "./module.ts";

/** Returns the database roles that a process with these modules has to become, in the order of their names. */
export function rolesOf(modules: readonly Pick<ModuleDefinition, "schema" | "worker">[]): readonly string[] {
  const roles = modules.flatMap(({ schema, worker }) => {
    if (schema === undefined) return [];
    return worker === false ? [`tidemark_${schema}`] : [`tidemark_${schema}`, `tidemark_${schema}_worker`];
  });
  return [...new Set(roles)].toSorted();
}

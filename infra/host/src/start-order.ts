import type { ModuleDefinition } from "./module.ts";

/**
 * Orders modules so that each comes after those that it needs; needs that run elsewhere are ignored.
 * @throws Error if modules need each other in a circle, or two have the same name.
 */
export function startOrder(modules: readonly ModuleDefinition[]): ModuleDefinition[] {
  const byName = new Map(modules.map((module) => [module.name, module]));
  if (byName.size !== modules.length) throw new Error("two modules have the same name");
  const ordered: ModuleDefinition[] = [];
  const state = new Map<string, "open" | "done">();
  const visit = (module: ModuleDefinition, path: readonly string[]): void => {
    if (state.get(module.name) === "done") return;
    if (state.get(module.name) === "open") {
      throw new Error(`modules need each other in a circle: ${[...path, module.name].join(" -> ")}`);
    }
    state.set(module.name, "open");
    for (const need of module.needs) {
      const peer = byName.get(need.module);
      if (peer !== undefined) visit(peer, [...path, module.name]);
    }
    state.set(module.name, "done");
    ordered.push(module);
  };
  for (const module of modules) visit(module, []);
  return ordered;
}

import type { ModuleDefinition } from "@tidemark/host";
import { loadModules } from "./module-list.ts";

/** Every module of the product, loaded, peers before those that need them. */
export const allModules: readonly ModuleDefinition[] = await loadModules("all");

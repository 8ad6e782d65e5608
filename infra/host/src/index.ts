export { configGroups, startHost, type Host, type HostOptions } from "./host.ts";
export { hostConfig } from "./host-config.ts";
export {
  defineModule,
  type ModuleContext,
  type ModuleDefinition,
  type ModuleNeed,
  type RunningModule,
} from "./module.ts";
export { migrateModules } from "./stores.ts";
export { runProcess } from "./run-process.ts";

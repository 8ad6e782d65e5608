export { configGroups, startHost, type Host, type HostOptions } from "./host.ts";
export { isLoopback as isLoopbackAddress, isPlaceholder } from "./exposure.rules.ts";
export { hostConfig, version } from "./host-config.ts";
export {
  defineModule,
  migrateModules,
  migrationsOf,
  rolesOf,
  type ModuleContext,
  type ModuleDefinition,
  type ModuleNeed,
  type RunningModule,
} from "./module.ts";
export { runProcess } from "./run-process.ts";

export { configGroups, startHost, type Host, type HostOptions } from "./host.ts";
export { isLoopback as isLoopbackAddress, isPlaceholder } from "./exposure.rules.ts";
export { hostConfig } from "./host-config.ts";
export {
  defineModule,
  type ModuleContext,
  type ModuleDefinition,
  type ModuleNeed,
  type RunningModule,
} from "./module.ts";
export { migrateModules, migrationsOf } from "./migrate-modules.ts";
export { rolesOf } from "./roles.ts";
export { runProcess } from "./run-process.ts";
export { version } from "./version.ts";

export { allConfigGroups, knownNames } from "./settings.ts";
export { allModules } from "./modules.ts";

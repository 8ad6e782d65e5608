export { allConfigGroups, knownNames } from "./known-names.ts";
export { allModules } from "./modules.ts";

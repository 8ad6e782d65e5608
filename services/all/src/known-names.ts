import { configNames } from "@tidemark/config";
import { configGroups } from "@tidemark/host";
import { launchConfig } from "./launch-config.ts";
import { allModules } from "./modules.ts";

/** Every setting there is, by group, in the order of the documentation. */
export const allConfigGroups = { launch: launchConfig, ...configGroups(allModules) };

// Names that clients read (examples/typescript): a shell that has them may start a server, too.
const clientNames = ["TIDEMARK_URL", "TIDEMARK_API_KEY"];

/** Every TIDEMARK_* name there is, so that processes can share one environment. */
export const knownNames: readonly string[] = [...configNames(allConfigGroups), ...clientNames];

import { renderConfigTable } from "@tidemark/config";
import { allConfigGroups } from "./known-names.ts";

// Prints what becomes docs/config.md.
process.stdout.write(renderConfigTable(allConfigGroups));

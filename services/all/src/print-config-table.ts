import { renderConfigTable } from "@tidemark/config";
import { allConfigGroups } from "./settings.ts";

// Prints what becomes docs/config.md.
process.stdout.write(renderConfigTable(allConfigGroups));

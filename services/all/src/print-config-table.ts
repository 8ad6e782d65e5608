import { renderConfigTable } from "@tidemark/host/config";
import { allConfigGroups } from "./settings.ts";

// Prints the content of docs/config.md.
process.stdout.write(renderConfigTable(allConfigGroups));

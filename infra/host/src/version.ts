import { readFileSync } from "node:fs";
import { join } from "node:path";

const manifest = join(import.meta.dirname, "../../../package.json");

/** The version of the product, from the manifest at the root: for the interface description, the start and the metrics. */
export const version = (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;

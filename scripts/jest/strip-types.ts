import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";

const own = readFileSync(new URL(import.meta.url));

/**
 * A Jest transformer that blanks out type syntax exactly as Node does when it runs a `.ts` file: the tested code is the code
 * that ships, and every line and column stays the same.
 */
const transformer = {
  process(source: string): { code: string } {
    return { code: stripTypeScriptTypes(source, { mode: "strip" }) };
  },

  /** Jest keeps results by this key: the source, the Node that strips it, and this file. */
  getCacheKey(source: string): string {
    return createHash("sha256").update(own).update(process.version).update("\0").update(source).digest("hex");
  },
};

export default transformer;

import { obtainPnpm } from "./tools.mjs";

// Prints the path of the pinned pnpm, in the cache folder that the argument names: for the build of the image, which has no launcher.
const cacheDir = process.argv[2];
if (cacheDir === undefined) throw new Error("usage: print-pnpm.mjs <cache folder>");
/** @param {string} line */
const log = (line) => console.error(line);
process.stdout.write(await obtainPnpm({ cacheDir, log, signal: new AbortController().signal }));

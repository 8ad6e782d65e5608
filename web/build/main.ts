import { writeBundle } from "./index.ts";

// `node web/build/main.ts <folder>`: for images, which serve the dashboard from a file system that is read-only.
const folder = process.argv[2];
if (folder === undefined) {
  process.stderr.write("usage: node web/build/main.ts <folder>\n");
  process.exitCode = 1;
} else await writeBundle(folder);

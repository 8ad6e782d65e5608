import { join } from "node:path";
import type { BuildOptions } from "esbuild";

const root = join(import.meta.dirname, "..");

/** Browsers of the last two years or so, in which popovers and modules work. */
const TARGET = ["es2023", "chrome120", "firefox125", "safari17"];

/** Options of all builds, which leave their output in memory. */
export const common = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  write: false,
  outdir: join(root, "dist"),
  target: TARGET,
  logLevel: "silent",
} satisfies BuildOptions;

/** Options of builds with components. */
export const components = {
  jsx: "automatic",
  jsxImportSource: "preact",
  define: { "process.env.NODE_ENV": '"production"' },
  // Of licenses.
  legalComments: "eof",
} satisfies BuildOptions;

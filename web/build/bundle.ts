import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { build, type BuildOptions, type Metafile } from "esbuild";
import type { BundleIndex, EmbedParts } from "./bundle-index.ts";

const root = join(import.meta.dirname, "..");
const gzipAsync = promisify(gzip);

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/** Browsers of the last two years or so, in which popovers and modules work. */
const TARGET = ["es2023", "chrome120", "firefox125", "safari17"];

/** Options of all builds, which leave their output in memory. */
const common = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  write: false,
  outdir: join(root, "dist"),
  target: TARGET,
  logLevel: "silent",
} satisfies BuildOptions;

/** Options of builds with components. */
const components = {
  jsx: "automatic",
  jsxImportSource: "preact",
  define: { "process.env.NODE_ENV": '"production"' },
  // Of licenses.
  legalComments: "eof",
} satisfies BuildOptions;

const runLists = "src/pages/run-lists.ts";
const reports = "src/pages/report-pages.ts";

/** The module that contains each page; a first view needs its parts in addition to the start. The router imports them when they are shown. */
const pageModules = {
  projects: runLists,
  project: runLists,
  compare: runLists,
  run: "src/pages/run/run-page.tsx",
  reports,
  report: reports,
  "shared-report": reports,
  settings: "src/pages/settings/settings-page.tsx",
  signin: "src/pages/sign-in/sign-in-page.tsx",
  device: "src/pages/device/device-page.tsx",
  invite: "src/pages/invite/invite-page.tsx",
} as const;

/** The pages that sign in. */
const signInPages = ["signin", "device", "invite"] as const;

/** Files are named by their contents. */
const named = {
  ...common,
  entryNames: "[name].[hash]",
  chunkNames: "part.[hash]",
  metafile: true,
} satisfies BuildOptions;

/** A file of the bundle with its contents, plain and compressed. */
type BuiltFile = { readonly name: string; readonly content: Uint8Array; readonly compressed: Uint8Array };

/**
 * Bundles the dashboard: modules that are split where pages are imported lazily, a style sheet of what every page has and one of the other parts, the
 * script of the theme, the icon, and the page of embedded views. @throws Error that names the fault in the sources
 */
export async function bundle(): Promise<{ readonly index: BundleIndex; readonly files: readonly BuiltFile[] }> {
  const [modules, theme, icon, embed] = await Promise.all([
    build({
      ...named,
      ...components,
      entryPoints: ["src/main.tsx"],
      format: "esm",
      splitting: true,
      // A part cannot load its own style: see `styles`.
      loader: { ".css": "empty" },
    }),
    build({ ...named, entryPoints: ["src/theme-first.ts"], format: "iife" }),
    readFile(join(root, "src/icon.svg")),
    bundleEmbed(),
  ]);
  const { style, pageStyle } = await styles(modules.metafile);
  const { outputs } = modules.metafile;
  const entry = outputOf(outputs, "src/main.tsx");
  const contents = [
    ...[...modules.outputFiles, ...theme.outputFiles].map(({ path, contents }) => [basename(path), contents] as const),
    [`main.${hashOf(style)}.css`, style] as const,
    [`pages.${hashOf(pageStyle)}.css`, pageStyle] as const,
    [`icon.${hashOf(icon)}.svg`, icon] as const,
  ];
  const files = await Promise.all(
    contents.map(async ([name, content]) => ({ name, content, compressed: await gzipAsync(content, { level: 9 }) })),
  );
  const nameOf = (pattern: RegExp): string => files.find(({ name }) => pattern.test(name))!.name;
  const index: BundleIndex = {
    files: files.map(({ name, content, compressed }) => ({
      name,
      type: TYPES[name.split(".").at(-1)!]!,
      bytes: content.length,
      gzipBytes: compressed.length,
    })),
    entry: basename(entry),
    theme: nameOf(/^theme-first\./),
    style: nameOf(/^main\..*\.css$/),
    pageStyle: nameOf(/^pages\./),
    signInPages,
    icon: nameOf(/\.svg$/),
    embed,
    parts: Object.fromEntries(
      Object.entries(pageModules).map(([page, path]) => [
        page,
        partsOf(outputs, [entry, outputOf(outputs, path)], entry),
      ]),
    ),
  };
  return { index, files };
}

/** Bundles the page of embedded views. @throws Error that names the fault in the sources */
export async function bundleEmbed(): Promise<EmbedParts> {
  const { outputFiles } = await build({
    ...common,
    ...components,
    entryPoints: ["src/embed/main.tsx"],
    format: "esm",
    // Preact could turn a text into markup. No element knows the property by another name, so the page cannot.
    mangleProps: /^innerHTML$/,
  });
  const textOf = (extension: string): string => outputFiles.find(({ path }) => path.endsWith(extension))!.text.trim();
  return { script: textOf(".js"), style: textOf(".css") };
}

/**
 * Gathers the style sheets that modules import: those of the start and of pages that sign in, and the others. Their layers say what wins, so only the one
 * that orders the layers must be first.
 */
async function styles({ inputs }: Metafile): Promise<Readonly<Record<"style" | "pageStyle", Uint8Array>>> {
  const first = "src/styles/tokens.css";
  const early = staticImports(inputs, ["src/main.tsx", ...signInPages.map((page) => pageModules[page])]);
  const others = Object.keys(inputs).filter((path) => path.endsWith(".css") && path !== first);
  const [own, ofPages] = [true, false].map((isEarly) =>
    others.filter((path) => early.has(path) === isEarly).toSorted(),
  );
  const [style, pageStyle] = await Promise.all([sheet("main.css", [first, ...own!]), sheet("pages.css", ofPages!)]);
  return { style, pageStyle };
}

async function sheet(sourcefile: string, paths: readonly string[]): Promise<Uint8Array> {
  const contents = paths.map((path) => `@import ${JSON.stringify(`./${path}`)};`).join("\n");
  const built = await build({ ...named, stdin: { contents, loader: "css", resolveDir: root, sourcefile } });
  return built.outputFiles[0]!.contents;
}

/** Files and everything that they import statically, directly and indirectly. */
function staticImports(
  files: Metafile["inputs"] | Metafile["outputs"],
  sources: readonly string[],
): ReadonlySet<string> {
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const { path: next, kind } of files[path]?.imports ?? []) if (kind === "import-statement") visit(next);
  };
  sources.forEach(visit);
  return seen;
}

/** The file that an entry or a lazily imported module became. */
function outputOf(outputs: Metafile["outputs"], module: string): string {
  const found = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === module);
  if (found === undefined) throw new Error(`${module} is not a part of the bundle of its own`);
  return found[0];
}

/** The names of modules and of everything they import statically, directly and indirectly, without the entry. */
function partsOf(outputs: Metafile["outputs"], modules: readonly string[], entry: string): readonly string[] {
  const parts = staticImports(outputs, modules);
  return [...parts].filter((path) => path !== entry).map((path) => relative("dist", path));
}

function hashOf(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex").slice(0, 8).toUpperCase();
}

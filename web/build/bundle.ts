import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { build, type BuildOptions, type Metafile } from "esbuild";
import { projectPages, type ProjectPageId } from "../src/pages/project/project-pages.ts";
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
  media: "src/pages/media/media-page.tsx",
  traces: "src/pages/traces/traces-page.tsx",
  artifacts: "src/pages/artifacts/artifacts-page.tsx",
  reports,
  report: reports,
  "shared-report": reports,
  settings: "src/pages/settings/settings-page.tsx",
  signin: "src/pages/sign-in/sign-in-page.tsx",
  device: "src/pages/device/device-page.tsx",
  invite: "src/pages/invite/invite-page.tsx",
} as const satisfies Record<ProjectPageId, string> & Record<string, string>;

/** The pages that sign in. */
const signInPages = ["signin", "device", "invite"] as const;

/** The pages whose styles are not part of the first view of others. */
const latePages = projectPages.filter(({ late }) => late).map(({ id }) => id);

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
 * Bundles the dashboard: modules that are split where pages are imported lazily, style sheets of what every page has, of the
 * other parts and of the late pages, the script of the theme, the icon, and the page of embedded views. @throws Error that names the fault in the sources
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
  const { style, pageStyle, lateStyle } = await styles(modules.metafile);
  const { outputs } = modules.metafile;
  const entry = outputOf(outputs, "src/main.tsx");
  const contents = [
    ...[...modules.outputFiles, ...theme.outputFiles].map(({ path, contents }) => [basename(path), contents] as const),
    [`main.${hashOf(style)}.css`, style] as const,
    [`pages.${hashOf(pageStyle)}.css`, pageStyle] as const,
    [`late.${hashOf(lateStyle)}.css`, lateStyle] as const,
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
    lateStyle: nameOf(/^late\./),
    latePages,
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
 * Gathers the style sheets that modules import: those of the start and of pages that sign in, those of late pages alone, and the others. Their layers say
 * what wins, so only the one that orders the layers must be first.
 */
async function styles({
  inputs,
}: Metafile): Promise<Readonly<Record<"style" | "pageStyle" | "lateStyle", Uint8Array>>> {
  const first = "src/styles/tokens.css";
  const early = staticImports(inputs, ["src/main.tsx", ...signInPages.map((page) => pageModules[page])]);
  const lateModules = new Set<string>(latePages.map((page) => pageModules[page]));
  const others = staticImports(
    inputs,
    partRoots(inputs).filter((path) => !lateModules.has(path)),
  );
  const sheetOf = (path: string): string => (early.has(path) ? "main" : others.has(path) ? "pages" : "late");
  const paths = Object.keys(inputs).filter((path) => path.endsWith(".css") && path !== first);
  const of = (name: string): string[] => paths.filter((path) => sheetOf(path) === name).toSorted();
  const [style, pageStyle, lateStyle] = await Promise.all([
    sheet("main.css", [first, ...of("main")]),
    sheet("pages.css", of("pages")),
    sheet("late.css", of("late")),
  ]);
  return { style, pageStyle, lateStyle };
}

async function sheet(sourcefile: string, paths: readonly string[]): Promise<Uint8Array> {
  const contents = paths.map((path) => `@import ${JSON.stringify(`./${path}`)};`).join("\n");
  const built = await build({ ...named, stdin: { contents, loader: "css", resolveDir: root, sourcefile } });
  return built.outputFiles[0]!.contents;
}

/** The modules that others import lazily. */
function partRoots(inputs: Metafile["inputs"]): readonly string[] {
  return Object.values(inputs).flatMap(({ imports }) =>
    imports.filter(({ kind }) => kind === "dynamic-import").map(({ path }) => path),
  );
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

import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { formats, type ImportFormat } from "@tidemark/import-formats";
import { usageFault } from "./cli-error.ts";

/** What can be imported: files of a tracker, or an export. */
export type Kind = ImportFormat["kind"] | "tidemark";

/** All kinds, as `--kind` names them. */
export const KINDS: readonly Kind[] = [...formats.map(({ kind }) => kind), "tidemark"];

/** Where the server is. */
export type ServerOptions = { readonly url: string; readonly key: string | undefined };

/** `tidemark import`. */
export type ImportCommand = {
  readonly command: "import";
  readonly server: ServerOptions;
  /** A path, or the address of an MLflow server. */
  readonly from: string;
  /** Absent: the projects of the source. */
  readonly project: string | undefined;
  /** Absent: it is detected. */
  readonly kind: Kind | undefined;
  readonly dryRun: boolean;
  readonly watch: boolean;
};

/** `tidemark export`: of a project, or of the named runs. */
export type ExportCommand = {
  readonly command: "export";
  readonly server: ServerOptions;
  readonly project: string | undefined;
  readonly runs: readonly string[];
  readonly folder: string;
  readonly format: "ndjson" | "parquet";
};

/** What the command line asks for. */
export type Command = ImportCommand | ExportCommand | { readonly command: "help"; readonly about: string | undefined };

/** The variables that the published SDK reads. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Where `npm start` listens by default. */
const DEFAULT_URL = "http://127.0.0.1:8080";

/** Most runs of one export. */
const EXPORTED_RUNS_MAX = 100;

const common = {
  help: { type: "boolean", short: "h" },
  url: { type: "string" },
  key: { type: "string" },
  project: { type: "string" },
} as const satisfies ParseArgsOptionsConfig;

const importOptions = {
  ...common,
  kind: { type: "string" },
  "dry-run": { type: "boolean" },
  watch: { type: "boolean" },
} as const satisfies ParseArgsOptionsConfig;

const exportOptions = {
  ...common,
  run: { type: "string", multiple: true },
  out: { type: "string" },
  format: { type: "string" },
} as const satisfies ParseArgsOptionsConfig;

/** Reads the arguments that follow the name of the program. @throws CliError with exit code 2 */
export function readCommand(args: readonly string[], env: Environment): Command {
  const [command, ...rest] = args;
  switch (command) {
    case "import":
      return readImport(rest, env);
    case "export":
      return readExport(rest, env);
    case undefined:
      throw usageFault("say what to do: import or export");
    case "help":
    case "--help":
    case "-h":
      return { command: "help", about: rest[0] };
    default:
      throw usageFault(`there is no command ${command}: import or export`);
  }
}

function readImport(args: readonly string[], env: Environment): Command {
  const { values, positionals } = parsed(() =>
    parseArgs({ args: [...args], options: importOptions, allowPositionals: true }),
  );
  if (values.help === true) return { command: "help", about: "import" };
  const [from, ...more] = positionals;
  if (from === undefined || more.length > 0)
    throw usageFault("import takes one path, or the address of an MLflow server");
  const kind = values.kind === undefined ? undefined : KINDS.find((known) => known === values.kind);
  if (values.kind !== undefined && kind === undefined) throw usageFault(`--kind is one of ${KINDS.join(", ")}`);
  const [dryRun, watch] = [values["dry-run"] === true, values.watch === true];
  if (dryRun && watch) throw usageFault("--dry-run and --watch exclude each other");
  const project = named(values.project, "--project");
  return { command: "import", server: serverOf(values, env), from, project, kind, dryRun, watch };
}

function readExport(args: readonly string[], env: Environment): Command {
  const { values, positionals } = parsed(() =>
    parseArgs({ args: [...args], options: exportOptions, allowPositionals: true }),
  );
  if (values.help === true) return { command: "help", about: "export" };
  if (positionals.length > 0) throw usageFault(`export does not take ${positionals[0]}`);
  const runs = (values.run ?? []).flatMap((text) => text.split(",")).filter((id) => id !== "");
  const project = named(values.project, "--project");
  if ((project === undefined) === (runs.length === 0)) throw usageFault("export takes either --project or --run");
  if (runs.length > EXPORTED_RUNS_MAX) throw usageFault(`an export has at most ${EXPORTED_RUNS_MAX} runs`);
  const format = values.format ?? "ndjson";
  if (format !== "ndjson" && format !== "parquet") throw usageFault("--format is ndjson or parquet");
  const folder = named(values.out, "--out") ?? "tidemark-export";
  return { command: "export", server: serverOf(values, env), project, runs, folder, format };
}

function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw usageFault(error instanceof Error ? error.message : String(error));
  }
}

function named(value: string | undefined, option: string): string | undefined {
  if (value?.trim() === "") throw usageFault(`${option} must not be empty`);
  return value?.trim();
}

function serverOf(values: { readonly url?: string; readonly key?: string }, env: Environment): ServerOptions {
  const url = (values.url ?? env["INSTANTML_API_BASE_URL"] ?? DEFAULT_URL).replace(/\/+$/, "");
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? "")) throw usageFault(`${url} is no address of a server`);
  return { url, key: values.key ?? env["INSTANTML_API_KEY"] };
}

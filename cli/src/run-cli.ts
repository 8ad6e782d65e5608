import { formats } from "@tidemark/import-formats";
import { isCliError } from "./cli-error.ts";
import { runExport } from "./export/run-export.ts";
import { runImport } from "./import/run-import.ts";
import { KINDS, readCommand } from "./options.ts";
import type { Surroundings } from "./surroundings.ts";

/** Runs the command with the arguments that follow its name. Returns the exit code: 0 done, 1 failed, 2 wrong use. */
export async function runCli(args: readonly string[], surroundings: Surroundings): Promise<number> {
  try {
    const command = readCommand(args, surroundings.env);
    switch (command.command) {
      case "help":
        surroundings.print(helpOf(command.about).trimEnd());
        return 0;
      case "import":
        return await runImport(command, surroundings);
      case "export":
        return await runExport(command, surroundings);
    }
  } catch (error) {
    if (surroundings.signal.aborted) {
      surroundings.report("\ntidemark: interrupted; the same command goes on\n");
      return 1;
    }
    const text = error instanceof Error ? error.message : String(error);
    surroundings.report(`tidemark: ${text}\n`);
    const exitCode = isCliError(error) ? error.exitCode : 1;
    if (exitCode === 2) surroundings.report("tidemark --help shows how it is used\n");
    return exitCode;
  }
}

/** Joins words as a sentence does: `a, b and c`. */
function inWords(words: readonly string[], last: "and" | "or"): string {
  return `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
}

const TRACKERS = inWords(
  formats.map(({ title }) => title),
  "and",
);

const GENERAL = `tidemark brings runs of other trackers into Tidemark, and takes complete exports away.

  tidemark import <path|url>    runs of ${TRACKERS}, or an export
  tidemark export               a project or some runs, with the bytes of their artifacts

tidemark import --help and tidemark export --help show examples.

The server and the key are those of the SDK:
  INSTANTML_API_BASE_URL   http://127.0.0.1:8080 unless it is set; or --url
  INSTANTML_API_KEY        a key with imports:write and export:read for imports, export:read for exports; or --key
`;

const IMPORT = `tidemark import <path|url> [options]

What a path holds is found out. Runs that are there already are skipped, so the same command again brings only what is new.

  See what would be imported, without sending anything:
    tidemark import ./wandb --dry-run
  Offline runs of W&B, into the projects that they name:
    tidemark import ./wandb
  TensorBoard, into a project of your choice:
    tidemark import ./logs --project nets
  A training that still writes, until it ends or Ctrl-C:
    tidemark import ./logs --project nets --watch
  MLflow, from its folder, its database or its server:
    tidemark import ./mlruns
    tidemark import ./mlflow.db
    tidemark import https://mlflow.example.org
  A folder that tidemark export wrote, with its bytes:
    tidemark import ./tidemark-export

  --project NAME   the project of all runs; otherwise that of the source
  --dry-run        say what would be imported, and send nothing
  --watch          go on with what a training writes (TensorBoard, W&B)
  --kind KIND      ${inWords(KINDS, "or")}, where a path holds several
  --url URL        the server (INSTANTML_API_BASE_URL)
  --key KEY        the API key (INSTANTML_API_KEY); the variable does not show in lists of processes

An MLflow server that wants credentials gets MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME with MLFLOW_TRACKING_PASSWORD.
`;

const EXPORT = `tidemark export --project NAME | --run ID ... [options]

  A project, with the bytes of all artifacts; again after a break, it goes on with the bytes that are missing:
    tidemark export --project nets --out ./nets
  Two runs:
    tidemark export --run 6f9f0d1e-0c39-4c0f-9a54-1d2f3f0a9d11 --run 0c9b8a1e-1111-4222-8333-444455556666
  All points as one table for pandas or DuckDB:
    tidemark export --project nets --format parquet --out ./nets

  --project NAME   everything of a project
  --run ID         a run, up to a hundred times
  --out FOLDER     where it is written (tidemark-export)
  --format FORMAT  ndjson (everything, can be imported again) or parquet (points)
  --url URL        the server (INSTANTML_API_BASE_URL)
  --key KEY        the API key (INSTANTML_API_KEY)
`;

/** Returns the help of a command, or of the program. */
function helpOf(command: string | undefined): string {
  if (command === "import") return IMPORT;
  return command === "export" ? EXPORT : GENERAL;
}

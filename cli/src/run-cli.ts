import { isCliError } from "./cli-error.ts";
import { runExport } from "./export/run-export.ts";
import { helpOf } from "./help.ts";
import { runImport } from "./import/run-import.ts";
import { readCommand } from "./options.ts";
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

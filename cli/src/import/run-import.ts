import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { isCliError, usageFault } from "../cli-error.ts";
import { contentOfFile } from "../convert/artifact-lines.ts";
import { convert, type Converted } from "../convert/convert.ts";
import { createSpool, nullSpool, type Spool } from "../convert/spool.ts";
import type { ImportCommand } from "../options.ts";
import { createClient, isRefusal, refused, type Client } from "../server/client.ts";
import { openSource, type ExportFolder, type Source } from "../source/source.ts";
import type { Surroundings } from "../surroundings.ts";
import { amount, showProgress } from "../terminal/progress.ts";
import { createWarnings, type Warnings } from "../terminal/warnings.ts";
import { watch } from "../watch/watch.ts";
import { summarizeArchive } from "./archive-summary.ts";
import {
  dropPending,
  keepPending,
  pendingFolder,
  readPending,
  sendArchive,
  sendBytes,
  type Pending,
} from "./send-archive.ts";

/** Runs `tidemark import`. Returns the exit code. @throws CliError */
export async function runImport(command: ImportCommand, surroundings: Surroundings): Promise<number> {
  const source = await openSource(command.from, command.kind, surroundings);
  if (command.watch && source.kind !== "tidemark") return watch(command, source, surroundings);
  const warnings = createWarnings();
  const failed =
    source.kind === "tidemark"
      ? await importFolder(command, source, warnings, surroundings)
      : await importSource(command, source, warnings, surroundings);
  for (const line of warnings.lines()) surroundings.print(`warning: ${line}`);
  return failed === 0 ? 0 : 1;
}

async function importSource(
  command: ImportCommand,
  source: Source,
  warnings: Warnings,
  surroundings: Surroundings,
): Promise<number> {
  const conversion = { source, project: command.project, warnings, surroundings };
  if (command.dryRun) {
    const never = () => Promise.resolve(false);
    const converted = await read({ ...conversion, spool: nullSpool, readFiles: false, isThere: never });
    surroundings.print(`would import ${describe(source.kind, converted)}`);
    return 0;
  }
  const client = createClient(command.server, surroundings);
  const root = await realpath(command.from).catch(() => "");
  const folder = pendingFolder(surroundings, command, root);
  const pending = await readPending(folder, surroundings.now());
  let failed = 0;
  if (pending !== undefined) {
    surroundings.print("going on with an import that broke off");
    failed += await send(client, folder, pending, warnings, surroundings);
  }
  const spool = await createSpool(folder);
  const isThere = (id: string): Promise<boolean> => isRunThere(client, id);
  const converted = await read({ ...conversion, spool, readFiles: true, isThere }).catch(async (error: unknown) => {
    await dropPending(folder);
    throw error;
  });
  if (converted.runsThere > 0) surroundings.print(`${converted.runsThere} runs are there already and were skipped`);
  if (converted.counts.run > 0) {
    await keepPending(folder, converted);
    failed += await send(client, folder, converted, warnings, surroundings);
    surroundings.print(`imported ${describe(source.kind, converted)}`);
  } else surroundings.print("nothing is new");
  await dropPending(folder);
  return failed;
}

type Reading = {
  readonly source: Source;
  readonly project: string | undefined;
  readonly warnings: Warnings;
  readonly surroundings: Surroundings;
  readonly spool: Spool;
  readonly readFiles: boolean;
  readonly isThere: (id: string) => Promise<boolean>;
};

async function read({ surroundings, ...conversion }: Reading): Promise<Converted> {
  const progress = showProgress(surroundings, "reading", "points");
  const onPoints = (points: number): void => {
    surroundings.signal.throwIfAborted();
    progress.set(points);
  };
  const converted = await convert({ ...conversion, onPoints });
  progress.end();
  return converted;
}

/** Sends an archive and its bytes. An archive that the server refuses is deleted, so that the next start makes it again. */
async function send(
  client: Client,
  folder: string,
  { archive, contents }: Pending,
  warnings: Warnings,
  surroundings: Surroundings,
): Promise<number> {
  const answer = await sendArchive(client, archive, surroundings).catch(async (error: unknown) => {
    if (isCliError(error) && FINAL.has(error.status ?? 0)) await dropPending(folder);
    throw error;
  });
  for (const text of answer.warnings) warnings.add(text);
  warnings.add("ids that were taken and became new ones", answer.replaced[0]?.old, answer.replaced.length);
  const paths = new Map(contents.map(({ sha256, path }) => [sha256, path]));
  return sendBytes(client, answer, (sha256) => paths.get(sha256), warnings, surroundings);
}

/** Answers that stay the same when the same archive is sent again. */
const FINAL = new Set([400, 409, 413]);

async function isRunThere(client: Client, id: string): Promise<boolean> {
  const answer = await client.call("GET", `/runs/${id}?metric_limit=1`);
  if (!isRefusal(answer)) return true;
  if (answer.status === 404) return false;
  throw refused("the runs of the server cannot be read", answer);
}

function describe(kind: string, { projects, counts, contents }: Converted): string {
  const bytes = contents.reduce((sum, { size }) => sum + size, 0);
  const parts = [
    `${counts.run} runs`,
    `${counts.points} points`,
    `${counts.lines} console lines`,
    `${counts.attribute} attributes`,
    `${counts.object} objects`,
    `${counts.artifact} artifacts (${amount(bytes, "bytes")})`,
  ];
  return `from ${kind} into ${projects.map((name) => JSON.stringify(name)).join(", ") || "no project"}: ${parts.join(", ")}`;
}

/** Sends the archive of an export unchanged. */
async function importFolder(
  command: ImportCommand,
  { root, archive }: ExportFolder,
  warnings: Warnings,
  surroundings: Surroundings,
): Promise<number> {
  if (command.project !== undefined) throw usageFault("an export names its projects itself, so --project has no place");
  if (command.watch) throw usageFault("an export cannot be watched");
  const { size } = await stat(archive);
  const { counts } = await summarizeArchive(archive);
  const what = Object.entries(counts).flatMap(([type, count]) => (count === 0 ? [] : [`${count} ${type}`]));
  if (command.dryRun) {
    surroundings.print(`would import an export: ${what.join(", ")}`);
    return 0;
  }
  const client = createClient(command.server, surroundings);
  const { sha256 } = await contentOfFile(archive, true);
  const answer = await sendArchive(client, { path: archive, bytes: size, sha256 }, surroundings);
  for (const text of answer.warnings) warnings.add(text);
  warnings.add("ids that were taken and became new ones", answer.replaced[0]?.old, answer.replaced.length);
  const pathOf = (digest: string): string => join(root, "bytes", digest);
  const failed = await sendBytes(client, answer, pathOf, warnings, surroundings);
  surroundings.print(`imported an export: ${what.join(", ")}`);
  return failed;
}

import { createWriteStream } from "node:fs";
import { mkdir, open, rename } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { failure } from "../cli-error.ts";
import { summarizeArchive } from "../import/archive-summary.ts";
import type { ExportCommand } from "../options.ts";
import { createClient, isRefusal, refused, type Client } from "../server/client.ts";
import type { Surroundings } from "../surroundings.ts";
import { showProgress } from "../terminal/progress.ts";
import { createContentList, fetchContents } from "./contents.ts";

/** Runs `tidemark export`. Returns the exit code. @throws CliError, also if the received data is incomplete */
export async function runExport(command: ExportCommand, surroundings: Surroundings): Promise<number> {
  const { folder, format } = command;
  const client = createClient(command.server, surroundings);
  await mkdir(folder, { recursive: true });
  if (format === "parquet") {
    const path = join(folder, "points.parquet");
    await fetchExport(client, command, path, checkParquet, surroundings);
    surroundings.print(`exported points to ${path}`);
    return 0;
  }
  const path = join(folder, "archive.ndjson");
  const contents = createContentList();
  const { counts } = await fetchExport(
    client,
    command,
    path,
    (part) => summarizeArchive(part, contents.add),
    surroundings,
  );
  const failed = await fetchContents(client, folder, contents.list(), surroundings);
  surroundings.print(`exported ${counts.run} runs with ${counts.points} points to ${path}`);
  return failed === 0 ? 0 : 1;
}

/** Fetches an export into a file, which gets its name when it is found to be whole. */
async function fetchExport<T>(
  client: Client,
  { project, runs, format }: ExportCommand,
  path: string,
  check: (part: string) => Promise<T>,
  surroundings: Surroundings,
): Promise<T> {
  const selection: Record<string, string> = project === undefined ? { run_ids: runs.join(",") } : { project };
  const query = new URLSearchParams({ format, ...selection });
  const answer = await client.open(`/api/export?${query.toString()}`);
  if (isRefusal(answer)) throw refused("there is no export", answer);
  const progress = showProgress(surroundings, "exporting", "bytes");
  const part = `${path}.part`;
  let bytes = 0;
  answer.on("data", (chunk: Buffer) => progress.set((bytes += chunk.length)));
  try {
    await pipeline(answer, createWriteStream(part), { signal: surroundings.signal });
  } catch (error) {
    surroundings.signal.throwIfAborted();
    throw failure(`the export is incomplete: the connection broke after ${bytes} bytes`, error);
  }
  progress.end();
  const checked = await check(part);
  await rename(part, path);
  return checked;
}

/** A file of Parquet ends with its footer and four letters. */
async function checkParquet(path: string): Promise<void> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, Math.max(0, size - 4));
    if (buffer.toString("latin1") !== "PAR1") throw failure(`${path} is incomplete: it has no footer`);
  } finally {
    await file.close();
  }
}

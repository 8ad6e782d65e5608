import { createReadStream } from "node:fs";
import { isArchiveError, readLines, type ArchiveLine, type CountedType } from "@tidemark/archive";
import { failure } from "../cli-error.ts";

/** The contents of an archive. */
export type ArchiveSummary = { readonly counts: Readonly<Record<CountedType, number>> };

/**
 * Reads an archive to its end, checks that it has an end, and counts its contents. `visit` sees each line.
 * @throws CliError if the file is incomplete or not an archive
 */
export async function summarizeArchive(
  path: string,
  visit: (line: ArchiveLine) => void = () => undefined,
): Promise<ArchiveSummary> {
  const counted = new Map<string, number>();
  let end: ArchiveSummary | undefined;
  try {
    for await (const { number, line } of readLines(createReadStream(path, { highWaterMark: 1 << 20 }))) {
      if (end !== undefined) throw failure(`${path}: line ${number} follows the end`);
      if (line.line === "unknown") continue;
      if (line.line === "end") end = { counts: line.counts };
      const rows = "columns" in line ? line.columns.created_at.length : line.line.includes(".") ? 0 : 1;
      counted.set(line.line, (counted.get(line.line) ?? 0) + rows);
      visit(line);
    }
  } catch (error) {
    if (isArchiveError(error)) throw failure(`${path} is incomplete or damaged: ${error.message}`, error);
    throw error;
  }
  if (end === undefined) throw failure(`${path} is incomplete: it has no end. Export it again`);
  for (const [type, count] of Object.entries(end.counts)) {
    if ((counted.get(type) ?? 0) !== count) {
      throw failure(
        `${path} is incomplete: its end counts ${count} of ${type}, and there are ${counted.get(type) ?? 0}`,
      );
    }
  }
  return end;
}

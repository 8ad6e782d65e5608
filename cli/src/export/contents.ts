import { createWriteStream } from "node:fs";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { ArchiveLine } from "@tidemark/archive";
import { contentOfFile } from "../convert/artifact-lines.ts";
import { isRefusal, type Client } from "../server/client.ts";
import type { Surroundings } from "../surroundings.ts";
import { showProgress } from "../terminal/progress.ts";
import { createWarnings } from "../terminal/warnings.ts";

/** Bytes that an archive names. */
type NamedContent = {
  readonly sha256: string;
  readonly size: number;
  /** From where they can be fetched: any of these. */
  readonly routes: readonly string[];
  /** Nothing but deleted versions has them, so the server may have let them go. */
  readonly isGone: boolean;
};

const ROUTES_MAX = 4;

/** Gathers the bytes that the lines of an archive name, each once. */
export function createContentList(): {
  readonly add: (line: ArchiveLine) => void;
  readonly list: () => NamedContent[];
} {
  const found = new Map<string, { size: number; routes: string[]; isGone: boolean }>();
  const deleted = new Set<string>();
  const note = (sha256: string, size: number, route: string, isGone: boolean): void => {
    const known = found.get(sha256);
    if (known === undefined) found.set(sha256, { size, routes: [route], isGone });
    else {
      // A second way in is enough: one of a thousand may be gone, not all.
      if (known.routes.length < ROUTES_MAX || (known.isGone && !isGone)) known.routes.push(route);
      known.isGone &&= isGone;
    }
  };
  return {
    add(line) {
      if (line.line === "artifact" && line.uri === undefined && line.sha256 !== undefined) {
        note(line.sha256, line.size_bytes ?? 0, `/api/artifacts/${line.id}/download`, false);
      } else if (line.line === "version" && (line.state !== "active" || line.purged_at !== undefined))
        deleted.add(line.id);
      else if (line.line === "version.entries") {
        for (const { id, kind, sha256, size_bytes: size = 0 } of line.entries) {
          if (kind !== "file" || sha256 === undefined) continue;
          note(sha256, size, `/api/artifact-entries/${id}/download`, deleted.has(line.id));
        }
      }
    },
    list: () => Array.from(found, ([sha256, content]) => ({ sha256, ...content })),
  };
}

/** Fetches the bytes into a folder. Returns how many files could not be fetched. */
export async function fetchContents(
  client: Client,
  folder: string,
  contents: readonly NamedContent[],
  surroundings: Surroundings,
): Promise<number> {
  if (contents.length === 0) return 0;
  const warnings = createWarnings();
  const target = join(folder, "bytes");
  await mkdir(target, { recursive: true });
  const total = contents.reduce((sum, { size }) => sum + size, 0);
  const progress = showProgress(surroundings, "files", "bytes", total);
  let [done, failed] = [0, 0];
  for (const { sha256, routes, size, isGone } of contents) {
    const before = done;
    const fault = await download(client, routes, join(target, sha256), sha256, (bytes) => progress.set(before + bytes));
    done += size;
    progress.set(done);
    if (fault === undefined) continue;
    if (isGone) warnings.add("files of deleted versions, which are gone", fault);
    else {
      failed += 1;
      warnings.add("files that could not be fetched", fault);
    }
  }
  progress.end();
  for (const line of warnings.lines()) surroundings.print(`warning: ${line}`);
  return failed;
}

/** Attempts at a file whose connection breaks; each continues where the previous one ended. */
const ATTEMPTS = 5;

/**
 * Fetches a file from one of several routes, unless it exists, and checks its SHA-256. Bytes that an earlier start fetched are not fetched again.
 * Returns what is wrong, if anything.
 */
async function download(
  client: Client,
  routes: readonly string[],
  path: string,
  sha256: string,
  onBytes: (bytes: number) => void,
): Promise<string | undefined> {
  if (await hasContent(path, sha256)) return undefined;
  let fault: string | undefined;
  for (const route of routes) {
    fault = await fetchOnce(client, route, path, sha256, onBytes);
    if (fault === undefined) return undefined;
  }
  return fault;
}

async function hasContent(path: string, sha256: string): Promise<boolean> {
  const there = await contentOfFile(path, true).catch(() => undefined);
  return there?.sha256 === sha256;
}

async function fetchOnce(
  client: Client,
  route: string,
  path: string,
  sha256: string,
  onBytes: (bytes: number) => void,
): Promise<string | undefined> {
  const part = `${path}.part`;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const from = await sizeOf(part);
    const answer = await client.open(route, from);
    if (isRefusal(answer)) {
      // The part is as long as the file, or longer: it is whole or of no use.
      if (answer.status !== 416) return `${route}: ${answer.status} ${answer.text}`;
    } else {
      const resumes = answer.statusCode === 206;
      let bytes = resumes ? from : 0;
      answer.on("data", (chunk: Buffer) => onBytes((bytes += chunk.length)));
      const isWhole = await pipeline(answer, createWriteStream(part, { flags: resumes ? "a" : "w" })).then(
        () => true,
        () => false,
      );
      if (!isWhole) continue;
    }
    if (await hasContent(part, sha256)) {
      await rename(part, path);
      return undefined;
    }
    await rm(part, { force: true });
  }
  return `${route}: what came has another SHA-256, or broke off`;
}

const sizeOf = (path: string): Promise<number> =>
  stat(path)
    .then(({ size }) => size)
    .catch(() => 0);

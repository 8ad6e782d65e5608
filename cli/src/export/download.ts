import { createWriteStream } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { contentOfFile } from "../convert/artifact-lines.ts";
import { isRefusal, type Client } from "../server/client.ts";

const sizeOf = (path: string): Promise<number> =>
  stat(path)
    .then(({ size }) => size)
    .catch(() => 0);

/** Attempts at a file whose connection breaks; each continues where the previous one ended. */
const ATTEMPTS = 5;

/**
 * Fetches a file from one of several routes, unless it exists, and checks its SHA-256. Bytes that an earlier start fetched are not fetched again.
 * Returns what is wrong, if anything.
 */
export async function download(
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

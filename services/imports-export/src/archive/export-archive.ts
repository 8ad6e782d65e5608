import { AppError, badRequest } from "@tidemark/errors";
import { ArchiveFormat, type ArchiveService, type ExportArchiveRequest } from "@tidemark/proto/imports/v1/archive";
import { callerOf } from "@tidemark/requests";
import type { Call, Handlers } from "@tidemark/rpc";
import { busy, createFairShare } from "@tidemark/work";
import { archiveLines } from "./archive-lines.ts";
import type { ArchiveClients } from "./selected-runs.ts";
import { parquetOfPoints } from "./parquet.ts";

/** Dependencies of the archive handlers. */
type ArchiveDeps = {
  readonly clients: ArchiveClients;
  readonly now: () => Date;
  readonly places: ExportPlaces;
};

/** Returns the handlers of ArchiveService. ExportArchive throws bad_request, not_found, and service_unavailable when too many exports are running. */
export function archiveHandlers(deps: ArchiveDeps): Handlers<(typeof ArchiveService)["method"]> {
  return {
    async *exportArchive(request, call) {
      const leave = await deps.places.take(callerOf(call).orgId);
      try {
        for await (const data of piecesOfFormat(deps, request, call)) yield { data };
      } finally {
        leave();
      }
    },
  };
}

function piecesOfFormat(
  { clients, now }: ArchiveDeps,
  request: ExportArchiveRequest,
  call: Call,
): AsyncGenerator<Uint8Array, void, undefined> {
  switch (request.format) {
    case ArchiveFormat.NDJSON:
      return piecesOf(archiveLines(clients, request, call, now()));
    case ArchiveFormat.PARQUET:
      return parquetOfPoints(clients, request, call);
    default:
      throw badRequest("format must be ndjson or parquet", "format");
  }
}

/** `admit` is set before it may be called. */
type Waiter = { admit: (() => void) | undefined };

/** How many complete exports a process reads at the same time. */
type ExportPlaces = {
  /** Takes a place for an organization, waiting for it. Returns its release function, to be called once. @throws service_unavailable after five seconds */
  readonly take: (orgId: string) => Promise<() => void>;
};

/** Milliseconds that an export waits for a place. */
const WAIT_MS = 5000;
/** How long a client should wait before it asks again. */
const RETRY_SECONDS = 10;

/** Shares the places for exports among organizations like the connections of a pool, because each export keeps one. */
export function createExportPlaces(places: number, waitMs: number = WAIT_MS): ExportPlaces {
  const share = createFairShare<Waiter>(places);
  return {
    async take(orgId) {
      const waiter: Waiter = { admit: undefined };
      const entered = share.enter(orgId, waiter, Date.now());
      if (entered === "refused") throw busy();
      if (entered === "waiting") {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        const timer = setTimeout(() => {
          if (share.withdraw(orgId, waiter)) reject(tooMany());
        }, waitMs);
        waiter.admit = () => {
          clearTimeout(timer);
          resolve();
        };
        await promise;
      }
      return () => {
        for (const { admit } of share.leave(orgId, Date.now())) admit?.();
      };
    },
  };
}

function tooMany(): AppError {
  return new AppError("service_unavailable", "too many complete exports are under way; try again", {
    retryAfterSeconds: RETRY_SECONDS,
  });
}

/** Characters that are sent together. */
const PIECE_CHARACTERS = 128 * 1024;

/** Joins texts into pieces of bytes large enough for a message. */
async function* piecesOf(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array, void, undefined> {
  let waiting: string[] = [];
  let characters = 0;
  for await (const text of texts) {
    waiting.push(text);
    characters += text.length;
    if (characters < PIECE_CHARACTERS) continue;
    yield Buffer.from(waiting.join(""));
    waiting = [];
    characters = 0;
  }
  if (waiting.length > 0) yield Buffer.from(waiting.join(""));
}

import { randomUUID } from "node:crypto";
import { underDeadline } from "@tidemark/work";
import { AppError } from "@tidemark/errors";
import type { Log } from "@tidemark/telemetry";
import { gather, openSpoolFile, type Span, type SpoolFile } from "./spool-file.ts";
import { makeRoom, refusalOf, type Party, type SpoolBounds, type SpoolRequest } from "./spool-shares.rules.ts";

/** The caller and address of an export: only the same caller at the same address gets its bytes. */
export type Whose = Party & { readonly address: string };

/** The source of an export. */
export type Source = {
  readonly pieces: AsyncIterable<Uint8Array>;
  /** The headers of the answer, as far as they are known by now. */
  readonly headers: () => Readonly<Record<string, string>>;
};

/** An export that is kept, held by one request, which must release it. */
export type KeptExport = Pick<Source, "headers"> & {
  /** Names its bytes, in URL-safe text. */
  readonly tag: string;
  /** Its length once all of it is there. */
  readonly sizeBytes: () => number | undefined;
  /** Resolves to its length when all of it is there. @throws the error that broke it off */
  readonly whole: () => Promise<number>;
  /** Reads it, or a part of it, even while it is being written. @throws the error that broke it off */
  readonly read: (span?: Span) => AsyncGenerator<Uint8Array, void, undefined>;
  readonly release: () => void;
  /** Ends it for all requests: its caller may no longer have it. */
  readonly drop: () => void;
};

/** The exports of a process: each is written to disk as fast as it can be read, and sent to clients from there. */
export type Spool = {
  /**
   * Begins an export. It is written to its end even if its client leaves. It is dropped when no request has had it for `KEPT_MINUTES`, or sooner
   * when its place is needed.
   * @throws what `begin` throws, rate_limit_exceeded above the share of its organization or caller, service_unavailable
   */
  readonly begin: (whose: Whose, begin: () => Promise<Source>) => Promise<KeptExport>;
  /** Finds an export that is kept: the one with the tag, without a tag the latest. */
  readonly find: (whose: Whose, tag: string | undefined) => KeptExport | undefined;
  /** The number of exports and their bytes. */
  readonly held: () => { readonly exports: number; readonly bytes: number };
  /** Drops all exports. */
  readonly close: () => void;
};

/** Minutes for which an export is kept after the last request that had it. */
export const KEPT_MINUTES = 10;

/** Exports that a process has at the same time. */
const EXPORTS_MAX = 256;
/** Bytes that are written together. */
const WRITE_BYTES = 256 * 1024;
const WHOLE: Span = { start: 0, end: Number.POSITIVE_INFINITY };

type Entry = Whose & {
  readonly tag: string;
  readonly file: SpoolFile;
  /** Higher for exports that began later. */
  readonly number: number;
  headers: Source["headers"];
  /** Requests that have it. */
  users: number;
  isWhole: boolean;
  isDropped: boolean;
  expiry: NodeJS.Timeout | undefined;
};

/** Creates the spool of a process, in a folder of its machine. */
export function createSpool(options: {
  readonly directory: string;
  readonly bytesMax: number;
  readonly log: Log;
  /** Milliseconds in place of `KEPT_MINUTES`. */
  readonly keptMs?: number | undefined;
}): Spool {
  const { directory, log, keptMs = KEPT_MINUTES * 60_000 } = options;
  const bounds: SpoolBounds = { bytes: options.bytesMax, exports: EXPORTS_MAX };
  /** The least recently used are first. */
  const entries = new Set<Entry>();
  let count = 0;

  const closeFile = (file: SpoolFile): void => {
    file.close().catch((error: unknown) => log.warn("the file of an export could not be closed", { error }));
  };
  const drop = (entry: Entry, failure: Error = unavailable("the export was given up")): void => {
    if (entry.isDropped) return;
    entry.isDropped = true;
    clearTimeout(entry.expiry);
    entries.delete(entry);
    entry.file.end(failure);
    if (entry.users === 0) closeFile(entry.file);
  };
  const notWritten = (error: unknown): AppError => {
    log.error("an export could not be written to disk", { error });
    return unavailable("the export could not be written to disk");
  };
  const makeRoomFor = (party: Party, request: SpoolRequest): void => {
    const held = Array.from(entries, (entry) => ({
      entry,
      orgId: entry.orgId,
      caller: entry.caller,
      bytes: entry.file.sizeBytes(),
      isInUse: entry.users > 0,
    }));
    const room = makeRoom(held, party, request, bounds);
    if ("whose" in room) throw refusalOf(room);
    for (const { entry } of room) drop(entry);
  };

  const handTo = (entry: Entry): KeptExport => {
    entry.users += 1;
    clearTimeout(entry.expiry);
    entries.delete(entry);
    entries.add(entry);
    let isReleased = false;
    return {
      tag: entry.tag,
      headers: () => entry.headers(),
      sizeBytes: () => (entry.isWhole ? entry.file.sizeBytes() : undefined),
      whole: entry.file.whole,
      read: (span = WHOLE) => entry.file.read(span),
      release() {
        if (isReleased) return;
        isReleased = true;
        entry.users -= 1;
        if (entry.users > 0) return;
        if (entry.isDropped) closeFile(entry.file);
        else entry.expiry = setTimeout(() => drop(entry), keptMs).unref();
      },
      drop: () => drop(entry),
    };
  };

  const writeAll = async (entry: Entry, pieces: AsyncIterable<Uint8Array>): Promise<void> => {
    let writing: Promise<void> = Promise.resolve();
    try {
      // The next bytes are read while these are written.
      for await (const bytes of gather(pieces, WRITE_BYTES)) {
        await writing;
        if (!entry.isDropped) makeRoomFor(entry, { bytes: bytes.length, exports: 0 });
        if (entry.isDropped) return;
        writing = entry.file.append(bytes).catch((error: unknown) => {
          throw notWritten(error);
        });
        // The failure is noticed at the next bytes, or at the end.
        writing.catch(() => undefined);
      }
      await writing;
      entry.isWhole = true;
      entry.file.end();
    } catch (error) {
      drop(entry, error as Error);
    }
  };

  return {
    async begin(whose, begin) {
      const file = await openSpoolFile(directory).catch((error: unknown) => {
        throw notWritten(error);
      });
      const entry: Entry = {
        ...whose,
        file,
        tag: randomUUID(),
        number: (count += 1),
        headers: () => ({}),
        users: 0,
        isWhole: false,
        isDropped: false,
        expiry: undefined,
      };
      try {
        makeRoomFor(whose, { bytes: 0, exports: 1 });
      } catch (error) {
        closeFile(file);
        throw error;
      }
      const kept = handTo(entry);
      try {
        const { pieces, headers } = await begin();
        entry.headers = headers;
        // Not for the request that began it, whose time may end long before.
        void underDeadline(undefined, () => writeAll(entry, pieces));
        return kept;
      } catch (error) {
        drop(entry);
        kept.release();
        throw error;
      }
    },
    find({ orgId, caller, address }, tag) {
      const own = [...entries].filter(
        (entry) =>
          entry.orgId === orgId &&
          entry.caller === caller &&
          entry.address === address &&
          (tag === undefined || entry.tag === tag),
      );
      const latest = own.toSorted((a, b) => b.number - a.number)[0];
      return latest === undefined ? undefined : handTo(latest);
    },
    held: () => ({
      exports: entries.size,
      bytes: [...entries].reduce((sum, { file }) => sum + file.sizeBytes(), 0),
    }),
    close() {
      for (const entry of entries) drop(entry);
    },
  };
}

function unavailable(text: string): AppError {
  return new AppError("service_unavailable", text, { retryAfterSeconds: 10 });
}

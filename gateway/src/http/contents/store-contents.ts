import type { PutResult } from "@tidemark/blob";
import { badRequest } from "@tidemark/errors";
import { RESERVED_OBJECTS_MAX } from "@tidemark/limits";

/** A content of a body. */
export type Content = {
  /** Whether it was base64; its bytes mean nothing otherwise. */
  readonly right: boolean;
  /** Where its bytes are; undefined as long as they are not stored. */
  readonly stored: StoredContent | undefined;
};

/** An object that was written. */
type StoredContent = Pick<PutResult, "sizeBytes" | "sha256"> & { readonly objectId: string };

/** Where contents are stored. */
export type ContentStore = {
  /** Names this many new objects, when this many bytes have arrived that no object has yet. */
  readonly reserve: (count: number, bytes: number) => Promise<readonly string[]>;
  readonly put: (objectId: string, bytes: AsyncIterable<Uint8Array>) => Promise<PutResult>;
  /** Charges bytes that are held in memory. @throws service_unavailable when there are too many */
  readonly hold: (bytes: number) => void;
};

/** Most bytes of a content that may wait for the end of the body. */
const HELD_BYTES_MAX = 64 * 1024;
/** Most bytes that all of them may take; from then on they are stored as they end. */
const ALL_HELD_BYTES_MAX = 2 * 1024 * 1024;
/** Objects that are named at a time while it is not known how many are needed. */
const NAMED_AHEAD = 8;
/** Contents that are written simultaneously. */
const WRITES_MAX = 8;

type Entry = {
  right: boolean;
  ended: boolean;
  pieces: Uint8Array[];
  /** Bytes in `pieces`. */
  heldBytes: number;
  /** Receives the next bytes while the entry is being written. */
  pipe: BytePipe | undefined;
  writing: Promise<void> | undefined;
  stored: StoredContent | undefined;
};

/** The contents of one body on their way into the store. */
export type Contents = {
  readonly begin: () => void;
  readonly bytes: (piece: Uint8Array) => void;
  readonly end: (right: boolean) => void;
  /** Passes on the bytes that have arrived, and resolves when there is room for more. After a fault, further bytes are dropped. */
  readonly settle: () => Promise<void>;
  /** The contents so far, in the order of the body. */
  readonly all: readonly Content[];
  /**
   * Stores the contents that still wait, after the end of a body that is to be answered.
   * @throws the error of the first fault that kept the contents from being stored
   */
  readonly finish: () => Promise<void>;
  /** Ends all writes in progress. Resolves when there are none. */
  readonly abandon: () => Promise<void>;
};

/**
 * Stores contents while they arrive. Small ones are held until the body has ended, so that a body that turns out to be refused writes nothing; longer ones
 * are sent to the store piece by piece, and the sender waits for the store. Each object is named before its first byte.
 */
export function createContents(store: ContentStore): Contents {
  const entries: Entry[] = [];
  /** Entries before this one have no bytes left to pass on, or are held. */
  let next = 0;
  let heldBytes = 0;
  let chargedBytes = 0;
  /** Why no more contents are stored. */
  let fault: { readonly error: unknown } | undefined;
  const named: string[] = [];
  const writes = new Set<Promise<void>>();

  const stop = (error: unknown): void => {
    fault ??= { error };
    for (const { pipe } of entries) pipe?.fail(error as Error);
    for (const { pieces } of entries) pieces.length = 0;
  };
  /** Begins to write an entry, of which pieces may follow. `wanted` more objects will be needed. */
  const begin = async (entry: Entry, wanted: number): Promise<BytePipe> => {
    while (writes.size >= WRITES_MAX) await Promise.race(writes);
    if (named.length === 0) named.push(...(await store.reserve(Math.min(wanted, RESERVED_OBJECTS_MAX), heldBytes)));
    const objectId = named.shift()!;
    const pipe = createBytePipe();
    const writing = store
      .put(objectId, pipe.bytes)
      .then(({ sizeBytes, sha256 }) => void (entry.stored = { objectId, sizeBytes, sha256 }), stop)
      .finally(() => writes.delete(writing));
    writes.add(writing);
    entry.pipe = pipe;
    entry.writing = writing;
    heldBytes -= entry.heldBytes;
    entry.heldBytes = 0;
    return pipe;
  };
  /** Writes the bytes of an entry that have arrived. */
  const write = async (entry: Entry, wanted: number): Promise<void> => {
    const pipe = entry.pipe ?? (await begin(entry, wanted));
    for (let piece = entry.pieces.shift(); piece !== undefined; piece = entry.pieces.shift()) {
      await Promise.race([pipe.write(piece), entry.writing]);
    }
    if (entry.ended) pipe.end();
  };

  return {
    begin() {
      entries.push({
        right: false,
        ended: false,
        pieces: [],
        heldBytes: 0,
        pipe: undefined,
        writing: undefined,
        stored: undefined,
      });
    },
    bytes(piece) {
      if (fault !== undefined) return;
      const entry = entries.at(-1)!;
      entry.pieces.push(piece);
      if (entry.pipe !== undefined) return;
      entry.heldBytes += piece.length;
      heldBytes += piece.length;
      if (heldBytes <= chargedBytes) return;
      store.hold(heldBytes - chargedBytes);
      chargedBytes = heldBytes;
    },
    end(right) {
      const entry = entries.at(-1)!;
      entry.ended = true;
      entry.right = right;
      if (!right) stop(badRequest("a content is not base64"));
    },
    async settle() {
      try {
        for (; next < entries.length && fault === undefined; next += 1) {
          const entry = entries[next]!;
          const mayWait = entry.heldBytes <= HELD_BYTES_MAX && heldBytes <= ALL_HELD_BYTES_MAX;
          if (entry.pipe !== undefined || !mayWait) await write(entry, NAMED_AHEAD);
          if (!entry.ended) break;
        }
      } catch (error) {
        stop(error);
      }
    },
    all: entries,
    async finish() {
      try {
        const waiting = entries.filter(({ pipe }) => pipe === undefined);
        for (const [index, entry] of waiting.entries()) {
          if (fault !== undefined) break;
          await write(entry, waiting.length - index);
        }
      } catch (error) {
        stop(error);
      }
      await Promise.all(writes);
      if (fault !== undefined) throw fault.error;
    },
    async abandon() {
      stop(new Error("the body is refused"));
      await Promise.all(writes);
    },
  };
}

/** Bytes on their way from a writer to a reader that asks for them. */
type BytePipe = {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Resolves when the reader wants more, or has left. */
  readonly write: (piece: Uint8Array) => Promise<void>;
  readonly end: () => void;
  /** Makes the reader throw. */
  readonly fail: (error: Error) => void;
};

/** Creates a pipe that holds one piece at a time. */
function createBytePipe(): BytePipe {
  let waiting: Uint8Array | undefined;
  let outcome: "open" | "ended" | Error = "open";
  let isLeft = false;
  let wakeReader = (): void => undefined;
  let wakeWriter = (): void => undefined;

  async function* read(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        if (waiting !== undefined) {
          const piece = waiting;
          waiting = undefined;
          yield piece;
          // It asks for more.
          wakeWriter();
        } else if (outcome === "ended") return;
        else if (outcome !== "open") throw outcome;
        else {
          await new Promise<void>((resolve) => {
            wakeReader = resolve;
          });
        }
      }
    } finally {
      isLeft = true;
      wakeWriter();
    }
  }

  return {
    bytes: read(),
    async write(piece) {
      if (isLeft) return;
      waiting = piece;
      wakeReader();
      await new Promise<void>((resolve) => {
        wakeWriter = resolve;
      });
    },
    end() {
      outcome = "ended";
      wakeReader();
    },
    fail(error) {
      outcome = error;
      wakeReader();
    },
  };
}

/** Bytes on their way from a writer to a reader that asks for them. */
export type BytePipe = {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Resolves when the reader wants more, or has left. */
  readonly write: (piece: Uint8Array) => Promise<void>;
  readonly end: () => void;
  /** Makes the reader throw. */
  readonly fail: (error: Error) => void;
};

/** Creates a pipe that holds one piece at a time. */
export function createBytePipe(): BytePipe {
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

/** The queries of a batcher and how it asks them. */
export type BatcherOptions<Query extends { readonly key: string }, Result> = {
  /** How many keys may go into one request, of queries like this. */
  readonly keysPerRequest: (query: Query) => number;
  readonly read: (common: Query, keys: readonly string[], signal: AbortSignal) => Promise<ReadonlyMap<string, Result>>;
  readonly empty: Result;
  readonly sizeOf: (result: Result) => number;
};

type Waiter<Query, Result> = {
  readonly query: Query;
  readonly signal: AbortSignal;
  readonly settle: { readonly resolve: (result: Result) => void; readonly reject: (error: unknown) => void };
};

/** Queries within this time are sent together, such as those of cards that a scroll brings into view. */
const GATHER_MS = 20;

/** Requests at the same time; browsers open six connections, and the page needs some for other things. */
const REQUESTS_MAX = 3;

/** The memory of answers, in bytes of typed arrays. */
const MEMORY_BYTES_MAX = 48 * 1024 * 1024;

/** Gathers what charts ask, into as few requests as the server allows. */
export type Batcher<Query, Result> = {
  /** Returns the remembered result of a query. */
  readonly remembered: (query: Query) => Result | undefined;
  /** @throws ApiError as `call` does; `AbortError` when `signal` ends it */
  readonly load: (query: Query, signal: AbortSignal) => Promise<Result>;
  readonly remember: (query: Query, result: Result) => void;
};

/** Makes a batcher. Queries that differ in nothing but their key share requests; a request without remaining waiters is canceled. */
export function createBatcher<Query extends { readonly key: string }, Result>(
  options: BatcherOptions<Query, Result>,
): Batcher<Query, Result> {
  const { keysPerRequest, read, empty, sizeOf } = options;
  const memory = new Map<string, Result>();
  let bytes = 0;
  let waiting: Waiter<Query, Result>[] = [];
  const ready: Waiter<Query, Result>[][] = [];
  let running = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const remember = (query: Query, result: Result): void => {
    const name = JSON.stringify(query);
    const before = memory.get(name);
    if (before !== undefined) bytes -= sizeOf(before);
    memory.delete(name);
    memory.set(name, result);
    bytes += sizeOf(result);
    for (const [oldest, value] of memory) {
      if (bytes <= MEMORY_BYTES_MAX || oldest === name) break;
      memory.delete(oldest);
      bytes -= sizeOf(value);
    }
  };

  const flush = (): void => {
    timer = undefined;
    const staying = waiting.filter(({ signal }) => !signal.aborted);
    waiting = [];
    for (const batch of batchesOf(staying, keysPerRequest)) ready.push(batch);
    next();
  };

  const next = (): void => {
    while (running < REQUESTS_MAX && ready.length > 0) {
      const batch = ready.shift()!.filter(({ signal }) => !signal.aborted);
      if (batch.length === 0) continue;
      running += 1;
      void run(batch).finally(() => {
        running -= 1;
        next();
      });
    }
  };

  const run = async (batch: readonly Waiter<Query, Result>[]): Promise<void> => {
    const controller = new AbortController();
    const endIfLeft = (): void => {
      if (batch.every(({ signal }) => signal.aborted)) controller.abort();
    };
    for (const { signal } of batch) signal.addEventListener("abort", endIfLeft);
    try {
      const keys = [...new Set(batch.map(({ query }) => query.key))];
      const results = await read(batch[0]!.query, keys, controller.signal);
      for (const { query, settle } of batch) settle.resolve(results.get(query.key) ?? empty);
    } catch (error) {
      for (const { settle } of batch) settle.reject(error);
    } finally {
      for (const { signal } of batch) signal.removeEventListener("abort", endIfLeft);
    }
  };

  const load = (query: Query, signal: AbortSignal): Promise<Result> =>
    new Promise<Result>((resolve, reject) => {
      const stop = (): void => reject(signal.reason as Error);
      if (signal.aborted) {
        stop();
        return;
      }
      signal.addEventListener("abort", stop, { once: true });
      waiting.push({ query, signal, settle: { resolve, reject } });
      timer ??= setTimeout(flush, GATHER_MS);
    });

  const remembered = (query: Query): Result | undefined => {
    const name = JSON.stringify(query);
    const found = memory.get(name);
    if (found === undefined) return undefined;
    // The most recently requested result is forgotten last.
    memory.delete(name);
    memory.set(name, found);
    return found;
  };
  return { remembered, load, remember };
}

/** Puts asks together that differ in nothing but their key, as many as may go into one request. */
export function batchesOf<Ask extends { readonly query: { readonly key: string } }>(
  asks: readonly Ask[],
  keysPerRequest: (query: Ask["query"]) => number,
): Ask[][] {
  const alike = Map.groupBy(asks, ({ query }) => JSON.stringify({ ...query, key: "" }));
  return [...alike.values()].flatMap((group) => {
    const byKey = [...Map.groupBy(group, ({ query }) => query.key).values()];
    const size = Math.max(1, keysPerRequest(group[0]!.query));
    return Array.from({ length: Math.ceil(byKey.length / size) }, (_, i) =>
      byKey.slice(i * size, (i + 1) * size).flat(),
    );
  });
}

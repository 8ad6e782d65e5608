import type { Batcher } from "./batcher.ts";

/** The request for a chart of several keys, which is otherwise one for a single key. */
export type KeysQuery<Query> = Omit<Query, "key"> & { readonly keys: readonly string[] };

/** Where a chart gets its data from: read, kept in memory, and brought up to date. */
export type Source<Query, Result> = Batcher<Query, Result> & {
  readonly update: (query: Query, before: Result, signal: AbortSignal) => Promise<Result>;
};

/** Reads several keys as one. Keys that are remembered are not read again, and the others share requests with those of other charts. */
export function keysSource<Query extends { readonly key: string }, One extends { readonly key: string }>(
  one: Batcher<Query, readonly One[]>,
  update: (query: Query, before: readonly One[], signal: AbortSignal) => Promise<readonly One[]>,
): Source<KeysQuery<Query>, readonly One[]> {
  const each = ({ keys, ...rest }: KeysQuery<Query>): Query[] =>
    keys.map((key) => ({ ...rest, key }) as unknown as Query);
  const ofKey = (all: readonly One[], { key }: Query): readonly One[] => all.filter((series) => series.key === key);
  return {
    remembered(query) {
      const found = each(query).map(one.remembered);
      return found.every((series) => series !== undefined) ? found.flat() : undefined;
    },
    async load(query, signal) {
      const read = async (asked: Query): Promise<readonly One[]> =>
        one.remembered(asked) ?? (await one.load(asked, signal));
      return (await Promise.all(each(query).map(read))).flat();
    },
    remember(query, result) {
      for (const asked of each(query)) one.remember(asked, ofKey(result, asked));
    },
    async update(query, before, signal) {
      return (await Promise.all(each(query).map((asked) => update(asked, ofKey(before, asked), signal)))).flat();
    },
  };
}

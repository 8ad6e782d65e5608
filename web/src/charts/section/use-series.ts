import { useEffect, useRef, useState } from "preact/hooks";
import { entriesOf, newBehind, withNew, type Series, type SeriesQuery } from "../series/series.ts";
import { keysSource, type KeysQuery, type Source } from "../series/keys-source.ts";
import { groupsLoader, type GroupSeries, type GroupsQuery } from "../series/read-groups.ts";
import { seriesLoader } from "../series/read-series.ts";

/** The state of a chart's request. */
export type Loaded<Result> = {
  readonly result: Result | undefined;
  readonly busy: boolean;
  readonly error: unknown;
  readonly retry: () => void;
};

type Stored<Result> = {
  readonly name: string;
  readonly result: Result | undefined;
  readonly error: unknown;
  readonly busy: boolean;
};

/** The share of new points that may follow a series of buckets before it is read again with buckets of one width. */
const APPENDED_SHARE_MAX = 0.5;

/** The pause between two reads of new data, as a multiple of the read's duration. */
const PAUSE_SHARE = 3;

/**
 * Reads series while `query` is given, and their new points whenever `news` changes. The last result stays until the next is there, or until the
 * chart is not `active` anymore.
 */
export function useSeries(
  query: KeysQuery<SeriesQuery> | undefined,
  active: boolean,
  news: number,
  runningIds: readonly string[],
): Loaded<readonly Series[]> {
  const appended = useRef(0);
  const update = async (
    asked: SeriesQuery,
    before: readonly Series[],
    signal: AbortSignal,
  ): Promise<readonly Series[]> => {
    const behind = newBehind(before, runningIds);
    const limit = Math.max(50, asked.buckets * APPENDED_SHARE_MAX) * asked.runIds.length * (query?.keys.length ?? 1);
    const isSimple = asked.x === "step" && asked.smoothing === undefined && asked.steps === undefined;
    if (!isSimple || behind === undefined || appended.current > limit) {
      appended.current = 0;
      return seriesLoader.load(asked, signal);
    }
    const added = await seriesLoader.load({ ...asked, runIds: runningIds, afterStep: behind }, signal);
    const next = withNew(before, added);
    appended.current += entriesOf(next) - entriesOf(before);
    return next;
  };
  return useLoaded(query, active, news, keysSource(seriesLoader, update));
}

/** Reads groups as long as `query` is given, and again whenever `news` changes. */
export function useGroups(
  query: KeysQuery<GroupsQuery> | undefined,
  active: boolean,
  news: number,
): Loaded<readonly GroupSeries[]> {
  const update = (asked: GroupsQuery, _before: unknown, signal: AbortSignal): Promise<readonly GroupSeries[]> =>
    groupsLoader.load(asked, signal);
  return useLoaded(query, active, news, keysSource(groupsLoader, update));
}

function useLoaded<Query, Result>(
  query: Query | undefined,
  active: boolean,
  news: number,
  source: Source<Query, Result>,
): Loaded<Result> {
  const name = query === undefined ? "" : JSON.stringify(query);
  const [stored, setStored] = useState<Stored<Result>>({ name: "", result: undefined, error: undefined, busy: false });
  const [attempt, setAttempt] = useState(0);
  const latest = useRef(stored);
  latest.current = stored;
  const set = (next: Stored<Result>): void => {
    latest.current = next;
    setStored(next);
  };
  const newsSeen = useRef(news);
  const updating = useRef(false);
  const update = useRef<AbortController | undefined>(undefined);
  const [round, setRound] = useState(0);

  useEffect(() => {
    // Only the loader, which is bounded, remembers results out of view.
    if (!active && latest.current.result !== undefined)
      set({ name: "", result: undefined, error: undefined, busy: false });
    if (query === undefined) return;
    const known = source.remembered(query);
    newsSeen.current = known === undefined ? news : -1;
    if (known !== undefined) {
      set({ name, result: known, error: undefined, busy: false });
      return;
    }
    const controller = new AbortController();
    set({ ...latest.current, busy: true, error: undefined });
    source.load(query, controller.signal).then(
      (result) => {
        if (controller.signal.aborted) return;
        source.remember(query, result);
        set({ name, result, error: undefined, busy: false });
      },
      (error: unknown) => {
        if (!controller.signal.aborted) set({ ...latest.current, busy: false, error });
      },
    );
    return () => controller.abort();
  }, [name, active, attempt]);

  useEffect(() => {
    const before = latest.current;
    if (query === undefined || news === newsSeen.current || updating.current || before.busy) return;
    if (before.name !== name || before.result === undefined) return;
    newsSeen.current = news;
    if (news === 0) return;
    const controller = new AbortController();
    update.current = controller;
    updating.current = true;
    const beganAt = performance.now();
    source
      .update(query, before.result, controller.signal)
      .then((result) => {
        if (controller.signal.aborted || latest.current.name !== name) return;
        source.remember(query, result);
        set({ name, result, error: undefined, busy: false });
      })
      // The next news triggers another attempt; the drawing stays.
      .catch(() => undefined)
      .finally(() => {
        // Reads that take long, as smoothing all points of many runs does, keep the server busy for a quarter of the time at most.
        setTimeout(
          () => {
            updating.current = false;
            setRound((count) => count + 1);
          },
          PAUSE_SHARE * (performance.now() - beganAt),
        );
      });
  }, [news, name, stored.busy, round]);

  useEffect(() => () => update.current?.abort(), [name, active]);

  return { result: stored.result, busy: stored.busy, error: stored.error, retry: () => setAttempt(attempt + 1) };
}

import type { ComponentChildren } from "preact";
import { useCallback, useMemo, useState } from "preact/hooks";
import { useQuery } from "../api/use-answer.ts";
import { joinList, splitList } from "../app/addresses.ts";
import { currentLocation, setQuery } from "../app/location.tsx";
import { Button } from "../ui/button.tsx";
import { Select } from "../ui/field.tsx";
import { EmptyState, ErrorNote } from "../ui/page-states.tsx";
import { Skeleton } from "../ui/spinner.tsx";
import { useLast } from "../ui/use-last.ts";
import { counted } from "../ui/words.ts";
import { commonRangeOf, RangeToggle } from "./common-range.tsx";
import { KeyPicker } from "./key-picker.tsx";
import { KeyRow, type MediaRun } from "./key-row.tsx";
import { MEDIA_KINDS, shownKeys, stepsOfKeys, type MediaKey } from "./media-keys.ts";
import { shownStep, StepSlider } from "./step-slider.tsx";
import { useObjectsAtStep } from "./use-side-by-side.ts";

/** Runs that the API reads side by side. */
const RUNS_MAX = 100;

/** Keys whose rows are on the page at a time. */
const KEYS_AT_ONCE = 100;

/** What runs logged under the same keys, side by side at the step of one slider. Only what is in sight is read. */
export function SideBySide({
  runs: all,
  search,
  matches,
  version = 0,
  tools,
  empty,
}: {
  readonly runs: readonly MediaRun[];
  readonly search: string;
  /** Whether a key passes the search. */
  readonly matches: (key: string) => boolean;
  /** Grows when the runs have logged more. */
  readonly version?: number;
  /** Shown before the other tools. */
  readonly tools?: ComponentChildren;
  /** Shown if the runs have logged nothing. */
  readonly empty: ComponentChildren;
}) {
  const [keysMax, setKeysMax] = useState(KEYS_AT_ONCE);
  const [isPicking, setPicking] = useState(false);
  const [inSight, setInSight] = useState<ReadonlySet<string>>(new Set());
  const runs = all.slice(0, RUNS_MAX);
  const ids = runs.map(({ id }) => id);
  const { query } = currentLocation.value;
  const { data, error, reload } = useQuery<{ readonly keys: readonly MediaKey[]; readonly truncated: boolean }>(
    ids.length === 0 ? undefined : `/api/objects/keys?run_ids=${ids.join()}`,
    { version },
  );
  // While the keys of other runs are read, those before stay.
  const last = useLast(data);
  const keys = ids.length === 0 ? [] : (last?.keys ?? []);
  const [kind, chosen] = [query.get("kind") ?? "", splitList(query.get("media"))];
  const found = useMemo(() => shownKeys(keys, { kind, chosen, matches }), [keys, kind, chosen.join("\n"), matches]);
  const stops = useMemo(() => stepsOfKeys(found), [found]);
  const step = shownStep(stops);
  const rows = found.slice(0, keysMax);
  const visible = rows.filter(({ key }) => inSight.has(key)).map(({ key }) => key);
  const { byKey, error: fault } = useObjectsAtStep(ids, visible, step, version);
  const drawn = [...byKey.values()].flatMap(({ byRun }) => [...byRun.values()]);
  const range = commonRangeOf(drawn);
  const onSight = useCallback(
    (key: string, isInSight: boolean) =>
      setInSight((before) => {
        if (before.has(key) === isInSight) return before;
        const next = new Set(before);
        if (isInSight) next.add(key);
        else next.delete(key);
        return next;
      }),
    [],
  );
  const isReading = data === undefined && error === undefined && ids.length > 0;
  if (keys.length === 0) {
    return (
      <>
        <ErrorNote error={error} onRetry={reload} />
        {isReading ? <Skeleton lines={6} height="40px" /> : error === undefined && empty}
      </>
    );
  }
  return (
    <section class="tm-stack" aria-label="Objects" aria-busy={isReading || undefined}>
      <ErrorNote error={error ?? fault} onRetry={reload} />
      <div class="tm-tools">
        {tools}
        <Select
          label="Kind"
          hideLabel
          value={kind}
          options={MEDIA_KINDS}
          onChange={(value) => setQuery({ kind: value })}
        />
        <Button icon="list" onClick={() => setPicking(true)}>
          {chosen.length === 0 ? "All keys" : counted(chosen.length, "chosen key")}
        </Button>
        <span class="tm-muted" role="status">
          {`${counted(found.length, "key")} of ${counted(ids.length, "run")}`}
          {all.length > runs.length && ", the first that are shown"}
          {last?.truncated === true && ", not all keys of each run"}
        </span>
        <RangeToggle objects={drawn} />
      </div>
      <StepSlider stops={stops} isTruncated={found.some(({ steps_truncated: isCut }) => isCut)} />
      {found.length === 0 && (
        <EmptyState title="No key matches" icon="image">
          {search === ""
            ? "No key of these runs has this kind."
            : `No object of these runs has a key with “${search}”.`}
        </EmptyState>
      )}
      {rows.map((row) => (
        <KeyRow
          key={row.key}
          of={row}
          runs={runs}
          objects={byKey.get(row.key)}
          step={byKey.get(row.key)?.step ?? step}
          range={range}
          onSight={onSight}
        />
      ))}
      {found.length > rows.length && (
        <Button
          onClick={() => setKeysMax(keysMax + KEYS_AT_ONCE)}
        >{`Show more of ${counted(found.length, "key")}`}</Button>
      )}
      {isPicking && (
        <KeyPicker
          keys={keys.map(({ key }) => key)}
          chosen={chosen}
          onChange={(next) => setQuery({ media: joinList(next) }, { replace: true })}
          onClose={() => setPicking(false)}
        />
      )}
    </section>
  );
}

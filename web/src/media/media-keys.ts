import type { RichObject } from "./steps.ts";

/** A key under which some of the runs logged objects. */
export type MediaKey = {
  readonly key: string;
  readonly kinds: readonly RichObject["kind"][];
  readonly run_ids: readonly string[];
  /** Of its objects in any of the runs, ascending. */
  readonly steps: readonly number[];
  readonly steps_truncated: boolean;
};

/** The kinds of objects in the order in which they are offered, with their names. */
export const MEDIA_KINDS = [
  { value: "", label: "Any kind" },
  { value: "image", label: "Pictures" },
  { value: "video", label: "Videos" },
  { value: "audio", label: "Sounds" },
  { value: "table", label: "Tables" },
  { value: "histogram", label: "Histograms" },
  { value: "classification_eval", label: "Evaluations" },
] as const;

/** Returns the keys of a kind that pass the search, only chosen ones where any are chosen. */
export function shownKeys(
  keys: readonly MediaKey[],
  {
    kind,
    chosen,
    matches,
  }: { readonly kind: string; readonly chosen: readonly string[]; readonly matches: (key: string) => boolean },
): readonly MediaKey[] {
  return keys.filter(
    ({ key, kinds }) =>
      (kind === "" || kinds.some((one) => one === kind)) &&
      (chosen.length === 0 || chosen.includes(key)) &&
      matches(key),
  );
}

/** Returns the steps at which a slider for some keys stops: each once, ascending. */
export function stepsOfKeys(keys: readonly MediaKey[]): readonly number[] {
  const steps = new Set<number>();
  for (const key of keys) for (const step of key.steps) steps.add(step);
  return [...steps].toSorted((a, b) => a - b);
}

/** Objects of one answer: runs times keys. */
const OBJECTS_TOGETHER = 100;

/** Splits keys into those of one request each. */
export function requestsOf(keys: readonly string[], runs: number): readonly (readonly string[])[] {
  const size = Math.max(1, Math.floor(OBJECTS_TOGETHER / Math.max(1, runs)));
  return Array.from({ length: Math.ceil(keys.length / size) }, (_, i) => keys.slice(i * size, (i + 1) * size));
}

import { computed, signal } from "@preact/signals";
import { useLayoutEffect, useMemo } from "preact/hooks";
import { currentLocation } from "../../app/location.tsx";
import { DASHES, lookAt, NO_COLOR, PALETTE, placeOfLook, type ThemeName } from "./palette.ts";
import { placesOf } from "./places.ts";
import { storedLooks, storedPlaces, storeLooks, storePlaces, type OwnLook } from "./stored-looks.ts";

/** How a line and its swatch look. */
type LineLook = {
  /** A color as style sheets take it, which follows the theme. */
  readonly color: string;
  /** Lengths of dashes and gaps in pixels; none is a solid line. */
  readonly dash: readonly number[];
};

const own = signal<ReadonlyMap<string, OwnLook>>(new Map());
const places = signal<ReadonlyMap<string, number>>(new Map());
const loaded = new Set<string>();
const remembered = new Map<string, number>();
/** The lines that each part of the page shows. */
const shown = new Map<symbol, readonly string[]>();

const FORCED = matchMedia("(forced-colors: active)");
const isForced = signal(FORCED.matches);
FORCED.addEventListener("change", () => {
  isForced.value = FORCED.matches;
});

/** Whether lines differ in their dashes as well as in their colors: as the address says, and always where the system forces its colors. */
const hasPatterns = computed(() => isForced.value || currentLocation.value.query.get("patterns") === "1");

/**
 * Says which lines of a project a part of the page shows, in their order, while it is mounted: runs by their ids, and groups. Each gets a look of its own
 * on the whole page and keeps it while it is visible.
 */
export function useVisibleLines(projectId: string | undefined, ids: readonly string[]): void {
  const part = useMemo(() => Symbol("part"), []);
  useLayoutEffect(() => {
    if (projectId === undefined) return;
    load(projectId);
    shown.set(part, ids);
    givePlaces();
    remember(projectId, ids);
  }, [projectId, ids.join()]);
  useLayoutEffect(
    () => () => {
      shown.delete(part);
    },
    [],
  );
}

/** Gives a run of a project another look in this browser; undefined takes it back. */
export function chooseLook(projectId: string, runId: string, look: OwnLook | undefined): void {
  load(projectId);
  const looks = new Map(storedLooks(projectId));
  const all = new Map(own.peek());
  for (const map of [looks, all]) {
    map.delete(runId);
    if (look !== undefined) map.set(runId, look);
  }
  own.value = all;
  storeLooks(projectId, looks);
  givePlaces();
}

/** Returns the look that a person chose for a run. */
export function ownLook(runId: string): OwnLook | undefined {
  return own.value.get(runId);
}

/** Returns the look of a line: chosen, else given while it is visible; gray while it is not. A component that renders with it follows changes. */
export function lineLook(id: string): LineLook {
  const { color, dash } = partsOf(id);
  return { color: typeof color === "string" ? color : `var(--tm-run-${color ?? "none"})`, dash: DASHES[dash]! };
}

/** Returns the color of a line as a canvas takes it. */
export function lineInk(id: string, theme: ThemeName): string {
  const { color } = partsOf(id);
  return typeof color === "string" ? color : color === undefined ? NO_COLOR[theme] : PALETTE[theme][color]!;
}

/** The color of a line, if it has one: its place in the list or a person's own, and the place of its dash. */
function partsOf(id: string): { readonly color: number | string | undefined; readonly dash: number } {
  const chosen = own.value.get(id);
  const at = chosen?.place ?? places.value.get(id);
  const look = at === undefined ? undefined : lookAt(at, hasPatterns.value);
  return { color: chosen?.color ?? look?.color, dash: chosen?.dash ?? look?.dash ?? 0 };
}

/** Reads what this browser knows of the looks in a project, once. */
function load(projectId: string): void {
  if (loaded.has(projectId)) return;
  loaded.add(projectId);
  for (const [id, at] of storedPlaces(projectId)) remembered.set(id, at);
  own.value = new Map([...own.peek(), ...storedLooks(projectId)]);
}

function givePlaces(): void {
  const visible = [...new Set([...shown.values()].flat())];
  const chosen = new Map<string, number>();
  for (const [id, { place: color, dash = 0 }] of own.peek())
    if (color !== undefined) chosen.set(id, placeOfLook({ color, dash }));
  const before = places.peek();
  const next = placesOf({ visible, before, remembered, chosen });
  const isSame = next.size === before.size && [...next].every(([id, at]) => before.get(id) === at);
  if (!isSame) places.value = next;
}

/** Keeps the places of lines for the next time that they are visible. */
function remember(projectId: string, ids: readonly string[]): void {
  const last = new Map(storedPlaces(projectId));
  let isSame = true;
  for (const id of ids) {
    const at = places.peek().get(id);
    if (at === undefined) continue;
    isSame &&= last.get(id) === at;
    remembered.set(id, at);
    last.delete(id);
    last.set(id, at);
  }
  if (!isSame) storePlaces(projectId, last);
}

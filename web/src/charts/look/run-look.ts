import { signal } from "@preact/signals";
import { lookIndex } from "./hash.ts";
import { DASHES, PALETTE, type ThemeName } from "./palette.ts";
import { LOOKS_MAX, readLooks, type OwnLook } from "./own-looks.ts";

/** How the line and the swatch of a run look. */
export type RunLook = {
  /** A color as style sheets take it, which follows the theme. */
  readonly color: string;
  /** Lengths of dashes and gaps in pixels; none is a line without gaps. */
  readonly dash: readonly number[];
};

const own = signal<ReadonlyMap<string, OwnLook>>(new Map());
const loaded = new Set<string>();
const storageName = (projectId: string): string => `tidemark.looks.${projectId}`;

/** Reads the looks that a person chose for runs of a project, once. */
export function loadLooks(projectId: string): void {
  if (loaded.has(projectId)) return;
  loaded.add(projectId);
  own.value = new Map([...own.peek(), ...readLooks(stored(projectId))]);
}

/** Gives a run of a project another look in this browser; undefined takes it back. */
export function chooseLook(projectId: string, runId: string, look: OwnLook | undefined): void {
  const looks = new Map(readLooks(stored(projectId)));
  const all = new Map(own.peek());
  for (const map of [looks, all]) {
    map.delete(runId);
    if (look !== undefined) map.set(runId, look);
  }
  own.value = all;
  try {
    localStorage.setItem(storageName(projectId), JSON.stringify([...looks].slice(-LOOKS_MAX)));
  } catch {
    // A browser that stores nothing keeps the choice until the page is left.
  }
}

/** Returns the look that a person chose for a run. */
export function ownLook(runId: string): OwnLook | undefined {
  return own.value.get(runId);
}

/** Returns the look of a run: chosen, else by its id. A component that renders with it renders again when a look is chosen. */
export function runLook(runId: string): RunLook {
  const { color, dash } = lookIndex(runId);
  const chosen = own.value.get(runId);
  return {
    color: chosen?.color ?? `var(--tm-run-${chosen?.place ?? color})`,
    dash: DASHES[chosen?.dash ?? dash] ?? [],
  };
}

/** Returns the color of a run as a canvas takes it. */
export function runInk(runId: string, theme: ThemeName): string {
  const chosen = own.value.get(runId);
  return chosen?.color ?? PALETTE[theme][chosen?.place ?? lookIndex(runId).color]!;
}

function stored(projectId: string): string | null {
  try {
    return localStorage.getItem(storageName(projectId));
  } catch {
    // This browser stores nothing.
    return null;
  }
}

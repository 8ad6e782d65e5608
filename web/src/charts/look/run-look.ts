import { signal } from "@preact/signals";

/** The two themes of the page. */
export type ThemeName = "light" | "dark";

/**
 * Colors of runs, at the same place the same hue in both themes: each has a contrast of 3 to the surface of cards, and any two can be distinguished
 * with every common kind of color vision. More than six cannot; dashes distinguish the rest. The style sheet has them as `--tm-run-0` and so on.
 */
export const PALETTE: Readonly<Record<ThemeName, readonly string[]>> = {
  light: ["#2b3fe0", "#f0541e", "#1f9e86", "#b96cf0", "#7a1208", "#3b1550"],
  dark: ["#8f6bff", "#c77a1a", "#2fa58a", "#f2b3fb", "#d9ef3a", "#66f5ae"],
};

/** Lengths of dashes and gaps in pixels; none is a line without gaps. */
export const DASHES: readonly (readonly number[])[] = [[], [8, 3], [2, 3], [10, 3, 2, 3], [5, 5]];

/** Places in the lists of colors and dashes. */
type LookPlace = { readonly color: number; readonly dash: number };

/** Returns the look of an id: of nothing but the id, so that filters, the order of runs and loading again do not change it. */
export function lookIndex(id: string): LookPlace {
  const place = hashOf(id.toLowerCase()) % (PALETTE.light.length * DASHES.length);
  return { color: place % PALETTE.light.length, dash: Math.floor(place / PALETTE.light.length) };
}

/** FNV-1a with a last mixing (the finalizer of MurmurHash3), so that ids which differ in one digit spread over all looks. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** How the line and the swatch of a run look. */
type RunLook = {
  /** A color as style sheets take it, which follows the theme. */
  readonly color: string;
  /** Lengths of dashes and gaps in pixels; none is a line without gaps. */
  readonly dash: readonly number[];
};

/** A look that a person chose: a place in the palette or a color of their own, and a dash. */
type OwnLook = { readonly place?: number; readonly color?: string; readonly dash?: number };

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

/** Number of chosen looks of a project that are kept, the newest. */
const LOOKS_MAX = 500;

const COLOR = /^#[\da-f]{6}$/i;

/** Reads chosen looks of runs by their ids; malformed ones, perhaps from an older page, are left out. */
export function readLooks(text: string | null): [string, OwnLook][] {
  let found: unknown;
  try {
    found = JSON.parse(text ?? "[]");
  } catch {
    // It is not JSON: perhaps of an older page.
    return [];
  }
  if (!Array.isArray(found)) return [];
  return found.flatMap((entry: unknown): [string, OwnLook][] => {
    if (!Array.isArray(entry)) return [];
    const [id, look] = entry as readonly unknown[];
    if (typeof id !== "string" || typeof look !== "object" || look === null) return [];
    const { place, color, dash } = look as Record<string, unknown>;
    return [
      [
        id,
        {
          ...(isPlace(place, PALETTE.light.length) ? { place } : {}),
          ...(typeof color === "string" && COLOR.test(color) ? { color } : {}),
          ...(isPlace(dash, DASHES.length) ? { dash } : {}),
        },
      ],
    ];
  });
}

function stored(projectId: string): string | null {
  try {
    return localStorage.getItem(storageName(projectId));
  } catch {
    // This browser stores nothing.
    return null;
  }
}

function isPlace(value: unknown, count: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < count;
}

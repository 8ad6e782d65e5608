import { DASHES, PALETTE } from "./palette.ts";

/** A look that a person chose: a place in the list of colors or a color of their own, and a dash. */
export type OwnLook = { readonly place?: number; readonly color?: string; readonly dash?: number };

/** Chosen looks and last places of a project that are kept, the newest. */
const KEPT_MAX = 500;

const looksName = (projectId: string): string => `tidemark.looks.${projectId}`;
const placesName = (projectId: string): string => `tidemark.places.${projectId}`;

/** Returns the looks that a person chose for runs of a project in this browser. */
export const storedLooks = (projectId: string): [string, OwnLook][] => readLooks(stored(looksName(projectId)));

/** Keeps the looks that a person chose for runs of a project, the newest last. */
export const storeLooks = (projectId: string, looks: Iterable<readonly [string, OwnLook]>): void =>
  store(looksName(projectId), looks);

/** Returns the last places of lines of a project in this browser. */
export const storedPlaces = (projectId: string): [string, number][] => readPlaces(stored(placesName(projectId)));

/** Keeps the last places of lines of a project, the newest last. */
export const storePlaces = (projectId: string, places: Iterable<readonly [string, number]>): void =>
  store(placesName(projectId), places);

/** Reads chosen looks of runs by their ids; malformed ones, perhaps from an older page, are left out. */
export function readLooks(text: string | null): [string, OwnLook][] {
  return entriesOf(text).flatMap(([id, look]): [string, OwnLook][] => {
    if (typeof look !== "object" || look === null) return [];
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

/** Reads places of lines by their ids; malformed ones are left out. */
export function readPlaces(text: string | null): [string, number][] {
  return entriesOf(text).flatMap(([id, place]): [string, number][] => (isPlace(place, Infinity) ? [[id, place]] : []));
}

const COLOR = /^#[\da-f]{6}$/i;

function entriesOf(text: string | null): [string, unknown][] {
  let found: unknown;
  try {
    found = JSON.parse(text ?? "[]");
  } catch {
    // It is not JSON: perhaps of an older page.
    return [];
  }
  if (!Array.isArray(found)) return [];
  return found.flatMap((entry: unknown): [string, unknown][] => {
    const [id, value] = Array.isArray(entry) ? (entry as readonly unknown[]) : [];
    return typeof id === "string" ? [[id, value]] : [];
  });
}

function isPlace(value: unknown, count: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < count;
}

function stored(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    // This browser stores nothing.
    return null;
  }
}

function store(name: string, entries: Iterable<readonly [string, unknown]>): void {
  try {
    localStorage.setItem(name, JSON.stringify([...entries].slice(-KEPT_MAX)));
  } catch {
    // A browser that stores nothing keeps it until the page is left.
  }
}

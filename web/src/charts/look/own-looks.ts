import { DASHES, PALETTE } from "./palette.ts";

/** A look that a person chose: a place in the palette or a color of their own, and a dash. */
export type OwnLook = { readonly place?: number; readonly color?: string; readonly dash?: number };

/** Number of chosen looks of a project that are kept, the newest. */
export const LOOKS_MAX = 500;

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

function isPlace(value: unknown, count: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < count;
}

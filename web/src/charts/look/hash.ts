import { DASHES, PALETTE } from "./palette.ts";

/** Places in the lists of colors and dashes. */
export type LookPlace = { readonly color: number; readonly dash: number };

/** FNV-1a with a last mixing (the finalizer of MurmurHash3), so that ids which differ in one digit spread over all looks. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Returns the look of an id: of nothing but the id, so that filters, the order of runs and loading again do not change it. */
export function lookIndex(id: string): LookPlace {
  const place = hashOf(id.toLowerCase()) % (PALETTE.light.length * DASHES.length);
  return { color: place % PALETTE.light.length, dash: Math.floor(place / PALETTE.light.length) };
}

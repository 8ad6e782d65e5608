/** Stops of Cividis (Nuñez, Anderton and Renslow 2018), which people with any color vision see alike; lightness grows from the first to the last. */
const STOPS: readonly (readonly [number, number, number])[] = [
  [0, 34, 78],
  [18, 53, 112],
  [59, 73, 109],
  [87, 93, 109],
  [112, 113, 115],
  [138, 134, 120],
  [165, 156, 116],
  [195, 179, 105],
  [225, 204, 85],
  [254, 232, 56],
];

/** Returns the color of a share from 0 to 1; shares outside have the color of the nearer end. */
export function rampColor(share: number): string {
  const place = Math.min(1, Math.max(0, share)) * (STOPS.length - 1);
  const low = Math.min(STOPS.length - 2, Math.floor(place));
  const mixed = STOPS[low]!.map((part, i) => Math.round(part + (STOPS[low + 1]![i]! - part) * (place - low)));
  return `#${mixed.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

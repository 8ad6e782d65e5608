/** How the line of a run is drawn. */
export type Stroke = {
  /** One of the colors of the style sheet, from 0 on. */
  readonly color: number;
  /** Lengths of dashes and gaps in pixels, as `stroke-dasharray` takes them; `none`: a line without gaps. */
  readonly dash: string;
};

/** How many colors the style sheet has: as many as can be told apart with every common kind of color vision. */
const COLORS = 6;

/** In addition to the colors: 17 of them give each of 100 runs its own look. */
const DASHES = [
  "none",
  "7 3",
  "2 3",
  "10 3 2 3",
  "14 4",
  "4 2",
  "1 4",
  "10 3 2 3 2 3",
  "16 3 6 3",
  "6 6",
  "3 6",
  "18 3 2 3",
  "6 2 2 2",
  "12 8",
  "2 7",
  "8 2 4 2",
  "20 6",
];

/** Returns the stroke of the run at this place in the list; different for the first 102. */
export function strokeOf(place: number): Stroke {
  return { color: place % COLORS, dash: DASHES[Math.floor(place / COLORS) % DASHES.length]! };
}

import { placeOf } from "./hash.ts";
import { DASHES, PALETTE, type ThemeName } from "./palette.ts";

/** How the line and the swatch of a run look. */
type RunLook = {
  /** A color as style sheets take it, which follows the theme. */
  readonly color: string;
  /** Lengths of dashes and gaps in pixels; none is a line without gaps. */
  readonly dash: readonly number[];
};

/** Returns the look of a run, by its id. */
export function runLook(runId: string): RunLook {
  const { color, dash } = placeOf(runId);
  return { color: `var(--tm-run-${color})`, dash: DASHES[dash] ?? [] };
}

/** Returns the color of a run as a canvas takes it. */
export function runInk(runId: string, theme: ThemeName): string {
  return PALETTE[theme][placeOf(runId).color]!;
}

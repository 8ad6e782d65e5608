/** A rectangle in pixels. */
export type Box = { readonly left: number; readonly top: number; readonly width: number; readonly height: number };

/**
 * What a picture consists of, as data: a canvas draws it, and a file of it is written, by the same list. Points are pairs x, y in one list; a pair of NaN
 * ends a piece.
 */
export type Shape =
  | {
      readonly kind: "path";
      readonly points: Float64Array;
      readonly stroke: string;
      readonly width: number;
      readonly dash: readonly number[];
      readonly alpha: number;
      /** The id of the line it belongs to, if it is one. */
      readonly line?: string;
      /** The name of that line, for those who read files. */
      readonly label?: string;
    }
  /** A band: each piece goes along its upper edge and back below it, at the same places. */
  | { readonly kind: "area"; readonly points: Float64Array; readonly fill: string; readonly alpha: number }
  | {
      readonly kind: "dots";
      readonly points: Float64Array;
      readonly fill: string;
      readonly radius: number;
      readonly alpha: number;
      readonly line?: string;
      readonly label?: string;
    }
  /** Left, top, width and height of rectangles of one color. */
  | { readonly kind: "boxes"; readonly boxes: Float64Array; readonly fill: string; readonly alpha: number }
  | {
      readonly kind: "text";
      readonly x: number;
      readonly y: number;
      readonly text: string;
      readonly fill: string;
      readonly anchor: "start" | "middle" | "end";
      /** Degrees, clockwise. */
      readonly turn?: number;
      readonly bold?: boolean;
      /** In pixels, where it is not that of all text. */
      readonly size?: number;
    };

/** A picture: shapes without bounds lie below those that are cut off at the plot. */
export type Scene = {
  readonly width: number;
  readonly height: number;
  /** `transparent` for none. */
  readonly background: string;
  /** Where the data is; `inside` is drawn in it only. */
  readonly plot: Box;
  readonly around: readonly Shape[];
  readonly inside: readonly Shape[];
};

/** Colors of everything except data. */
export type Inks = {
  readonly surface: string;
  readonly ink: string;
  readonly faint: string;
  readonly rule: string;
};

/** The letters of pictures, in pixels. */
export const FONT = { size: 11, family: 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif' } as const;

/** About the width of a digit. */
export const CHARACTER_PIXELS = 6.3;

/** Data is drawn this many pixels beyond the plot, so that a dot at its edge is whole. */
export const EDGE = 3;

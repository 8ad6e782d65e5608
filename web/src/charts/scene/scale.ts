/** From the lowest to the highest. */
export type Range = readonly [low: number, high: number];

/** Turns values into pixels and back. */
export type Scale = {
  readonly domain: Range;
  /** Where the low and the high end of the domain lie; the low end may have more pixels. */
  readonly pixels: Range;
  readonly log: boolean;
  /** NaN for values without a place on the axis: on a logarithmic one, those not above 0. */
  readonly toPixel: (value: number) => number;
  /** Returns the pixels of the values from one place of a column up to another. */
  readonly toPixels: (values: Float64Array, from: number, to: number) => Float64Array;
  readonly toValue: (pixel: number) => number;
};

/** Returns a scale; a domain without length lies in the middle. A logarithmic one needs a domain above 0. */
export function scaleOf(domain: Range, pixels: Range, log = false): Scale {
  const place = log ? (value: number) => (value > 0 ? Math.log10(value) : Number.NaN) : (value: number) => value;
  const back = log
    ? (value: number) => Math.min(Math.max(10 ** value, Number.MIN_VALUE), Number.MAX_VALUE)
    : (value: number) => value;
  const [low, high] = [place(domain[0]), place(domain[1])];
  // Halves, because the distance of the largest numbers is beyond the largest number.
  const span = high / 2 - low / 2;
  const [from, to] = pixels;
  const perHalf = span === 0 ? 0 : (to - from) / span;
  const base = span === 0 ? from + (to - from) / 2 : from;
  const toPixel = (value: number): number => base + (place(value) / 2 - low / 2) * perHalf;
  return {
    domain,
    pixels,
    log,
    toPixel,
    toPixels(values, begin, end) {
      const found = new Float64Array(end - begin);
      if (log) for (let i = begin; i < end; i++) found[i - begin] = toPixel(values[i]!);
      else for (let i = begin; i < end; i++) found[i - begin] = base + (values[i]! / 2 - low / 2) * perHalf;
      return found;
    },
    toValue: (pixel) => back(span === 0 ? low : low + ((pixel - from) / (to - from)) * span * 2),
  };
}

/** Returns a range that is a little larger on both sides, of numbers or of logarithms; a range without length gets one. */
export function widened([low, high]: Range, share: number, log = false): Range {
  if (log) {
    const factor = low === high ? 2 : 10 ** ((Math.log10(high) - Math.log10(low)) * share);
    return aboveZero([low / factor, high * factor]);
  }
  if (low === high) {
    const half = Math.abs(low) / 10 || 1;
    return [Math.max(low - half, -Number.MAX_VALUE), Math.min(high + half, Number.MAX_VALUE)];
  }
  const more = (high / 2 - low / 2) * 2 * share;
  return [Math.max(low - more, -Number.MAX_VALUE), Math.min(high + more, Number.MAX_VALUE)];
}

/** Returns the part of a range that a logarithmic axis can show: products of doubles may be 0 or infinite. */
export function aboveZero([low, high]: Range): Range {
  const clamped = (end: number): number => Math.min(Math.max(end, Number.MIN_VALUE), Number.MAX_VALUE);
  return [clamped(low), clamped(high)];
}

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

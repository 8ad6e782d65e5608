/** A point of a line. A value that is not a finite number is null. */
export type Point = { readonly step: number; readonly value: number | null };

/** From the lowest to the highest. */
export type Range = readonly [low: number, high: number];

/** What the axes of a chart must cover. */
export type Extent = { readonly steps: Range; readonly values: Range };

/** Returns the extent of all points with a value; undefined where there are none. */
export function extentOf(lines: readonly (readonly Point[])[]): Extent | undefined {
  let [firstStep, lastStep, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const points of lines) {
    for (const { step, value } of points) {
      if (value === null) continue;
      if (step < firstStep) firstStep = step;
      if (step > lastStep) lastStep = step;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return low > high ? undefined : { steps: [firstStep, lastStep], values: [low, high] };
}

/** Returns how far from the low end to the high end a number is: 0 to 1 within the range, the middle of a range without length. */
export function shareOf(value: number, [low, high]: Range): number {
  // Halves, because the distance of the largest numbers is beyond the largest number.
  const span = high / 2 - low / 2;
  return span === 0 ? 0.5 : (value / 2 - low / 2) / span;
}

/** Turns steps and values into pixels. */
export type Scale = { readonly x: (step: number) => number; readonly y: (value: number) => number };

/** Paths in SVG. */
export type Paths = {
  /** Ends before a point without a value and begins again after it. */
  readonly line: string;
  /** Points that no line reaches, as pieces without length: with round ends these are dots, unless they are dashed. */
  readonly dots: string;
};

/** Returns the paths of the points of a run. */
export function pathsOf(points: readonly Point[], { x, y }: Scale): Paths {
  let [line, dots, begun] = ["", "", ""];
  let length = 0;
  const end = (): void => {
    if (length === 1) dots += `${begun}h0`;
    else line += begun;
    [begun, length] = ["", 0];
  };
  for (const { step, value } of points) {
    if (value === null) {
      end();
      continue;
    }
    begun += `${length === 0 ? "M" : "L"}${rounded(x(step))} ${rounded(y(value))}`;
    length += 1;
  }
  end();
  return { line, dots };
}

/** A tenth of a pixel cannot be seen, and short texts are parsed faster. */
function rounded(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}

/** A point of one of several lines. */
export type Found = { readonly line: number; readonly point: { readonly step: number; readonly value: number } };

/** Returns the point that is nearest to a place in pixels; undefined where there are none. */
export function nearestPoint(
  lines: readonly (readonly Point[])[],
  { x, y }: Scale,
  at: { readonly x: number; readonly y: number },
): Found | undefined {
  let found: Found | undefined;
  let least = Infinity;
  lines.forEach((points, line) => {
    for (const { step, value } of points) {
      if (value === null) continue;
      const distance = (x(step) - at.x) ** 2 + (y(value) - at.y) ** 2;
      if (distance < least) [least, found] = [distance, { line, point: { step, value } }];
    }
  });
  return found;
}

/**
 * Pieces of this many points are painted one after the other: without a graphics processor, painting sorts the edges in each row of pixels, so that a
 * whole noisy line takes several times as long.
 */
const PIECE = 16;

/** A full line's pieces overlap by this on each side of a cut, so that no pale seam shows there. In pixels of the device. */
const OVERLAP = 0.2;

/** Points of one column of pixels of which all but the first, lowest, highest and last can be left out. */
const COLUMN_MAX = 4;

type Path = Pick<
  CanvasRenderingContext2D,
  "beginPath" | "moveTo" | "lineTo" | "arc" | "stroke" | "fill" | "lineDashOffset"
>;

/** How the pixels of the picture lie on those of the device. */
export type Pixels = { readonly ratio: number; readonly width: number };

/**
 * Strokes lines, given as pairs with NaN between lines, in the style that the context has. Cuts are in the middle of segments, where two pieces join
 * without a corner. Dashes go on across them.
 */
export function strokeLines(
  context: Path,
  points: Float64Array,
  { pixels, isDashed, isOpaque }: { readonly pixels: Pixels; readonly isDashed: boolean; readonly isOpaque: boolean },
): void {
  const drawn = thinned(points, pixels);
  const overlap = isOpaque ? OVERLAP / pixels.ratio : 0;
  let [count, length] = [0, 0];
  let [beforeX, beforeY] = [Number.NaN, Number.NaN];
  const begin = (offset: number): void => {
    context.lineDashOffset = offset;
    context.beginPath();
    count = 0;
  };
  begin(0);
  for (let i = 0; i < drawn.length; i += 2) {
    const [x, y] = [drawn[i]!, drawn[i + 1]!];
    if (x !== x) {
      beforeX = x;
      continue;
    }
    count += 1;
    if (beforeX !== beforeX) {
      if (count > PIECE || (isDashed && length > 0)) {
        context.stroke();
        begin(0);
      }
      length = 0;
      context.moveTo(x, y);
    } else {
      const segment = isDashed || count > PIECE ? Math.hypot(x - beforeX, y - beforeY) : 0;
      if (count > PIECE) {
        const share = Math.min(0.5, overlap / segment) || 0;
        const [dx, dy] = [x - beforeX, y - beforeY];
        context.lineTo(beforeX + dx * (0.5 + share), beforeY + dy * (0.5 + share));
        context.stroke();
        begin(isDashed ? length + segment * (0.5 - share) : 0);
        context.moveTo(beforeX + dx * (0.5 - share), beforeY + dy * (0.5 - share));
      }
      length += segment;
      context.lineTo(x, y);
    }
    [beforeX, beforeY] = [x, y];
  }
  context.stroke();
  context.lineDashOffset = 0;
}

/**
 * Returns the points that color pixels: where a line has several in one column of the device's pixels, the first, the lowest, the highest and the last of
 * them in their order. So no spike is lost.
 */
export function thinned(points: Float64Array, { ratio, width }: Pixels): Float64Array {
  if (points.length / 2 <= COLUMN_MAX * ratio * width) return points;
  const kept = new Float64Array(points.length);
  let [n, i] = [0, 0];
  const keep = (at: number): void => {
    kept[n++] = points[at]!;
    kept[n++] = points[at + 1]!;
  };
  while (i < points.length) {
    const column = Math.floor(points[i]! * ratio);
    let [low, high, last] = [i, i, i];
    for (let next = i + 2; next < points.length && Math.floor(points[next]! * ratio) === column; next += 2) {
      if (points[next + 1]! < points[low + 1]!) low = next;
      if (points[next + 1]! > points[high + 1]!) high = next;
      last = next;
    }
    keep(i);
    const [second, third] = low < high ? [low, high] : [high, low];
    if (second > i && second < last) keep(second);
    if (third > second && third < last) keep(third);
    if (last > i) keep(last);
    i = last + 2;
  }
  return kept.subarray(0, n);
}

/** Fills dots: opaque ones in pieces; where others cover each other, that must not show. */
export function fillDots(
  context: Path,
  { points, radius, alpha }: { readonly points: Float64Array; readonly radius: number; readonly alpha: number },
): void {
  context.beginPath();
  for (let i = 0; i < points.length; i += 2) {
    if (alpha === 1 && i > 0 && i % (2 * PIECE) === 0) {
      context.fill();
      context.beginPath();
    }
    context.moveTo(points[i]! + radius, points[i + 1]!);
    context.arc(points[i]!, points[i + 1]!, radius, 0, 2 * Math.PI);
  }
  context.fill();
}

/**
 * Fills bands: each goes along its upper edge and back below it, at the same places. Cuts are upright between two columns of pixels, so that nothing
 * shows of them.
 */
export function fillBands(context: Path, points: Float64Array, ratio: number): void {
  for (let from = 0; from < points.length;) {
    let to = from;
    while (to < points.length && points[to]! === points[to]!) to += 2;
    fillBand(context, points.subarray(from, to), ratio);
    from = to + 2;
  }
}

function fillBand(context: Path, points: Float64Array, ratio: number): void {
  const half = points.length / 2;
  const under = (i: number): number => points.length - 2 - i;
  let from = 0;
  let cut: readonly [x: number, top: number, bottom: number] | undefined;
  while (from < half) {
    let to = Math.min(half, from + 2 * PIECE);
    let next: typeof cut;
    for (; to < half && next === undefined; to += next === undefined ? 2 : 0) {
      const [x, after] = [points[to - 2]!, points[to]!];
      const at = Math.ceil(x * ratio) / ratio;
      if (!(at < after)) continue;
      const between = (a: number, b: number): number =>
        points[a + 1]! + ((points[b + 1]! - points[a + 1]!) * (at - x)) / (after - x);
      next = [at, between(to - 2, to), between(under(to - 2), under(to))];
    }
    context.beginPath();
    if (cut === undefined) context.moveTo(points[from]!, points[from + 1]!);
    else context.moveTo(cut[0], cut[1]);
    for (let i = from; i < to; i += 2) context.lineTo(points[i]!, points[i + 1]!);
    if (next !== undefined) {
      context.lineTo(next[0], next[1]);
      context.lineTo(next[0], next[2]);
    }
    for (let i = to - 2; i >= from; i -= 2) context.lineTo(points[under(i)]!, points[under(i) + 1]!);
    if (cut !== undefined) context.lineTo(cut[0], cut[2]);
    context.fill();
    [from, cut] = [to, next];
  }
}

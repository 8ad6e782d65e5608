/** Returns the parts of a color `#rrggbb` as linear shares of red, green and blue. */
export function linearParts(color: string): readonly number[] {
  return [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
}

/** Returns how bright a color is, from 0 to 1: its relative luminance (WCAG 2.2). */
export function luminance(color: string): number {
  const weights = [0.2126, 0.7152, 0.0722];
  return linearParts(color).reduce((sum, part, i) => sum + part * weights[i]!, 0);
}

/** Returns the contrast of two colors, from 1 to 21. */
export function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].toSorted((x, y) => x - y) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

/** Returns black or white, whichever can be read better on a color: its contrast is always at least 4.58. */
export function readableOn(color: string): "#000000" | "#ffffff" {
  return contrast(color, "#000000") >= contrast(color, "#ffffff") ? "#000000" : "#ffffff";
}

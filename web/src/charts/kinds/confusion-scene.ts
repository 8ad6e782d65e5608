import { text } from "../scene/axes-shapes.ts";
import { shortName } from "../scene/names.ts";
import { rampColor } from "../scene/scale.ts";
import { CHARACTER_PIXELS, type Inks, type Scene, type Shape } from "../scene/scene.ts";
import { readableOn } from "../look/contrast.ts";
import { rowShares, shareText, type Confusion } from "./confusion.ts";

/** Pixels of a cell, and around all of them. */
const CELL = { width: 64, height: 40 } as const;
const ROOM = 12;

/** Characters of the name of a class. */
export const CLASS_NAME_MAX = 18;
/** Characters that fit above a cell. */
const ABOVE_MAX = 9;

/** Returns the picture of a confusion matrix, for files: colors, counts and shares as its table shows them. */
export function confusionScene(confusion: Confusion, inks: Inks): Scene {
  const { labels, counts } = confusion;
  const shares = rowShares(confusion);
  const names = labels.map((label) => shortName(label, CLASS_NAME_MAX));
  const left = ROOM + 20 + Math.ceil(CHARACTER_PIXELS * Math.max(...names.map((name) => Array.from(name).length)));
  const top = ROOM + 36;
  const plot = { left, top, width: CELL.width * labels.length, height: CELL.height * labels.length };
  const around: Shape[] = [
    text("Predicted", left + plot.width / 2, ROOM + 10, "middle", inks.faint),
    { ...text("Actual", ROOM + 2, top + plot.height / 2, "middle", inks.faint), turn: -90 },
    ...names.flatMap((name, i) => [
      text(name, left - 8, top + CELL.height * (i + 0.5) + 4, "end", inks.ink),
      text(shortName(labels[i]!, ABOVE_MAX), left + CELL.width * (i + 0.5), top - 8, "middle", inks.ink),
    ]),
  ];
  const inside = counts.flatMap((row, i) =>
    row.flatMap((count, j): Shape[] => {
      const share = shares[i]![j]!;
      const fill = rampColor(share);
      const [x, y] = [left + CELL.width * j, top + CELL.height * i];
      const ink = readableOn(fill);
      const middle = x + CELL.width / 2;
      return [
        { kind: "boxes", boxes: Float64Array.of(x, y, CELL.width - 1, CELL.height - 1), fill, alpha: 1 },
        { ...text(count.toLocaleString("en-US"), middle, y + 18, "middle", ink), bold: true },
        text(shareText(share), middle, y + 32, "middle", ink),
      ];
    }),
  );
  const [width, height] = [left + plot.width + ROOM, top + plot.height + ROOM];
  return { width, height, background: inks.surface, plot, around, inside };
}

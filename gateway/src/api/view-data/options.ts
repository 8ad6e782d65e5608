import { badRequest } from "@tidemark/errors";
import { VIEW_PANELS, VIEW_POINTS } from "@tidemark/limits";
import { described, object, withDefault, required, type Field } from "../fields/field.ts";
import { toNumber } from "../fields/number.ts";

/** A value that was accepted, and how it was made acceptable. */
export type Accepted<T> = { readonly value: T; readonly warning?: string };

/** A number within its bounds. */
export type Clamped = Accepted<number>;

/** Describes an optional whole number that is brought within its bounds instead of being refused. */
export function clamped(range: {
  readonly min: number;
  readonly max: number;
  readonly default: number;
}): Field<Clamped> {
  const { min, max } = range;
  const whole = required<Clamped>({ type: "integer" }, (sent, name) => {
    const number = toNumber(sent);
    if (number === undefined || !Number.isInteger(number)) throw badRequest(`${name} must be a whole number`, name);
    const value = Math.min(max, Math.max(min, number));
    return value === number
      ? { value }
      : { value, warning: `${name} must be from ${min} to ${max}; ${value} was taken` };
  });
  const field = withDefault<Clamped>(whole, { value: range.default }, { default: range.default });
  return described(field, `From ${min} to ${max}; a smaller or larger one counts as the nearest, with a warning.`);
}

/** The bounds of the data of a view. */
export const viewOptions = object({
  metric_point_limit: clamped({ min: 1, ...VIEW_POINTS }),
  max_panels: clamped({ min: 1, ...VIEW_PANELS }),
});

/** Most points of all series of an answer. */
export const VIEW_POINTS_TOTAL_MAX = 50_000;

/** Returns how many points each series may have, so that all of them together stay within the bound. */
export function pointsPerSeries(runs: number, lineKeys: number, limit: number): Clamped {
  const series = runs * lineKeys;
  const share = series === 0 ? limit : Math.floor(VIEW_POINTS_TOTAL_MAX / series);
  if (limit <= share) return { value: limit };
  return {
    value: share,
    warning: `${series} series have at most ${VIEW_POINTS_TOTAL_MAX} points together: ${share} each instead of ${limit}`,
  };
}

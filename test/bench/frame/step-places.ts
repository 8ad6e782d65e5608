import type { Shot } from "./sender.ts";

/** Placeholder in a body for a step that increases from round to round, as in training. */
const PLACE = /"@(\d+)\/(\d+)"/g;

/** Returns the placeholder for step `place` of a body with `each` steps. */
export function stepPlace(place: number, each: number): string {
  return `@${place}/${each}`;
}

/** Returns the shot with the steps of its `round`-th time. */
export function shotOfRound(shot: Shot, round: number): Shot {
  const { body } = shot;
  if (typeof body !== "string") return shot;
  const step = (_: string, place: string, each: string): string => String(round * Number(each) + Number(place));
  return { ...shot, body: body.replaceAll(PLACE, step) };
}

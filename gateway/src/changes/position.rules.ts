/** How far a reader knows the announcements of each publisher: the number of the last change, by publisher. */
export type Position = ReadonlyMap<string, number>;

/** Changes of one project in one message have the numbers from this times its tick on, so that the last one is below the next tick's. */
const NUMBERS_PER_TICK = 1024;

/** Returns the number of a change, the `index`th of its project in the message of a tick. */
export function numberOf(tick: number, index: number): number {
  return tick * NUMBERS_PER_TICK + Math.min(index, NUMBERS_PER_TICK - 2);
}

/** Returns the number of a reader that knows everything up to and including a tick; 0 before the first one. */
export function endOf(tick: number): number {
  return tick === 0 ? 0 : tick * NUMBERS_PER_TICK + NUMBERS_PER_TICK - 1;
}

const NO_PUBLISHER = "0";
/** Most characters of an id; a position of a hundred publishers is shorter. */
const CHARACTERS_MAX = 4096;
const PUBLISHER = /^[0-9a-f]{12}$/;
const NUMBER = /^[0-9a-z]{1,11}$/;

/** Writes a position as the id of an event. Every gateway can read it. */
export function writePosition(position: Position): string {
  if (position.size === 0) return NO_PUBLISHER;
  let text = "";
  for (const [publisher, number] of position) text += `${text === "" ? "" : "."}${publisher}-${number.toString(36)}`;
  return text;
}

/** Reads the id of an event; undefined for a text that is not one. */
export function readPosition(text: string): Position | undefined {
  if (text === NO_PUBLISHER) return new Map();
  if (text.length > CHARACTERS_MAX) return undefined;
  const position = new Map<string, number>();
  for (const part of text.split(".")) {
    const publisher = part.slice(0, 12);
    const digits = part.slice(13);
    const number = Number.parseInt(digits, 36);
    if (part[12] !== "-" || !PUBLISHER.test(publisher) || !NUMBER.test(digits) || !Number.isSafeInteger(number))
      return undefined;
    position.set(publisher, number);
  }
  return position;
}

import { busLimits, type PublishOptions } from "./bus.ts";

const word = "[a-z0-9_-]+";
const subjectShape = new RegExp(`^tidemark(\\.${word})+$`);
/** The stream, which keeps published messages, does not take these. */
const announcedShape = new RegExp(`^announced(\\.${word})+$`);
const patternShape = new RegExp(`^(tidemark|announced)(\\.(${word}|\\*))*(\\.>)?$`);
const headerValueShape = /^[\x20-\x7e]*$/;

/**
 * Refuses messages that one of the drivers cannot carry, so that code that works in one process also works in many.
 * Throws `TypeError`.
 */
export function checkMessage(subject: string, data: Uint8Array, { id, headers = {} }: PublishOptions): void {
  if (subject.length > 200 || !subjectShape.test(subject)) throw new TypeError(`"${subject}" is not a subject`);
  if (!/^[\x21-\x7e]{1,255}$/.test(id)) throw new TypeError("a message id has 1 to 255 visible ASCII characters");
  checkSize(data);
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[A-Za-z][A-Za-z0-9-]{0,99}$/.test(name) || /^nats-/i.test(name))
      throw new TypeError(`"${name}" is not a header name`);
    if (value.length > 4096 || !headerValueShape.test(value))
      throw new TypeError(`the header ${name} has an odd value`);
  }
}

/** The same for an announcement. Throws `TypeError`. */
export function checkAnnouncement(subject: string, data: Uint8Array): void {
  if (subject.length > 200 || !announcedShape.test(subject))
    throw new TypeError(`"${subject}" is not a subject of announcements`);
  checkSize(data);
}

function checkSize(data: Uint8Array): void {
  if (data.byteLength > busLimits.dataBytesMax)
    throw new TypeError(`a message has at most ${busLimits.dataBytesMax} bytes, not ${data.byteLength}`);
}

/** Refuses a subject or pattern that nothing could match. Throws `TypeError`. */
export function checkPattern(pattern: string): void {
  if (pattern.length > 200 || !patternShape.test(pattern)) throw new TypeError(`"${pattern}" is not a subject`);
}

/** Refuses a text that cannot be the name of a durable consumer. Throws `TypeError`. */
export function checkDurable(durable: string): void {
  if (!/^[a-z0-9_-]{1,64}$/.test(durable)) throw new TypeError(`"${durable}" is not a name of a work queue`);
}

/** Whether a pattern (`*` for one word, `>` at the end for one or more) matches a subject. */
export function subjectMatches(pattern: string, subject: string): boolean {
  const wanted = pattern.split(".");
  const words = subject.split(".");
  for (const [i, want] of wanted.entries()) {
    if (want === ">") return words.length > i;
    if (i >= words.length || (want !== "*" && want !== words[i])) return false;
  }
  return wanted.length === words.length;
}

import { LINES_MAX, type ConsoleLine, type LinesItem } from "./items.ts";
import type { Warnings } from "./warnings.ts";

/** Puts together what a program wrote to one stream, piece by piece, into the lines that a terminal shows. */
export type ConsoleText = {
  /** Adds what was written at a time (milliseconds since 1970; NaN: not known). */
  write(text: string, time: number): void;
  /** Returns the lines, if there are many. */
  full(): LinesItem[];
  /** Returns all lines; the one that is not ended counts as ended. */
  rest(): LinesItem[];
};

/** Most characters of a line; the rest of it is left out. */
const LINE_CHARACTERS_MAX = 65_536;

const ESCAPE = "\u001B";

/** A line break, a carriage return, the sequence that erases up to the end of the line or all of it, or other text. */
const pieces = new RegExp(`\\n|\\r|${ESCAPE}\\[[02]?K|[^\\n\\r${ESCAPE}]+|${ESCAPE}`, "g");

/** Creates the text of a stream. Carriage returns go back to the start of the line, and later text overwrites what is there. */
export function createConsoleText(run: string, stream: LinesItem["stream"], warnings: Warnings): ConsoleText {
  let lines: ConsoleLine[] = [];
  let [line, at, begun] = ["", 0, false];
  let startedAt = Number.NaN;
  const end = (): void => {
    const message = line.isWellFormed() ? line : line.toWellFormed();
    lines.push({ ...(Number.isFinite(startedAt) ? { time: startedAt } : {}), message });
    [line, at, begun] = ["", 0, false];
  };
  const put = (text: string): void => {
    const room = LINE_CHARACTERS_MAX - at;
    if (text.length > room) warnings.add("too_large", `a line of ${stream}`);
    const kept = text.slice(0, room);
    line = at === line.length ? line + kept : line.slice(0, at) + kept + line.slice(at + kept.length);
    at += kept.length;
  };
  const take = (): LinesItem[] => {
    const items: LinesItem[] = [];
    for (let from = 0; from < lines.length; from += LINES_MAX) {
      items.push({ kind: "lines", run, stream, lines: lines.slice(from, from + LINES_MAX) });
    }
    lines = [];
    return items;
  };
  return {
    write(text, time) {
      for (const [piece] of text.matchAll(pieces)) {
        if (!begun) startedAt = time;
        begun = true;
        if (piece === "\n") end();
        else if (piece === "\r") at = 0;
        else if (!piece.startsWith(`${ESCAPE}[`)) put(piece);
        else if (piece === `${ESCAPE}[2K`) line = " ".repeat(at);
        else line = line.slice(0, at);
      }
    },
    full: () => (lines.length >= LINES_MAX ? take() : []),
    rest() {
      if (begun) end();
      return take();
    },
  };
}

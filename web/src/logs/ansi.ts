/** How a piece of a console line looks. Colors are 0 to 15 of the palette of the page, or `#rrggbb`. */
export type AnsiStyle = {
  readonly fg?: number | string | undefined;
  readonly bg?: number | string | undefined;
  readonly bold?: boolean;
  readonly dim?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
  readonly inverse?: boolean;
};

/** A piece of a line that looks the same throughout. */
export type AnsiSpan = { readonly text: string; readonly style: AnsiStyle };

const PLAIN: AnsiStyle = {};

/** Cells that a cursor may jump over, so that a short text cannot ask for a long line. */
const COLUMNS_MAX = 20_000;

/**
 * One escape sequence at the place of `lastIndex`: CSI, OSC and its likes (up to their end, or to the end of the text), or ESC with
 * one more character. Linear: no part of it can match in two ways.
 */
// oxlint-disable-next-line no-control-regex -- these are what a console sends
const SEQUENCE = /\u001b(?:\[([0-?]*)[ -/]*([@-~])?|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[^[\]PX^_])?/y;

type Cell = { readonly char: string; readonly style: AnsiStyle };

/**
 * Returns what a terminal would show of a console line in the end: progress bars that return to the start of the line leave their last
 * state, colors become styles, other control codes leave nothing. The result is text, never markup.
 */
export function renderAnsi(line: string): readonly AnsiSpan[] {
  // oxlint-disable-next-line no-control-regex -- these are what a console sends
  if (!/[\u0000-\u001f\u007f-\u009f]/.test(line)) return line === "" ? [] : [{ text: line, style: PLAIN }];
  return spansOf(cellsOf(line));
}

/** Returns the visible part of a line as plain text. */
export function plainText(line: string): string {
  return renderAnsi(line)
    .map(({ text }) => text)
    .join("");
}

function cellsOf(line: string): readonly Cell[] {
  const cells: Cell[] = [];
  let column = 0;
  let style = PLAIN;
  let at = 0;
  while (at < line.length) {
    const char = String.fromCodePoint(line.codePointAt(at)!);
    if (char === "\u001b") {
      SEQUENCE.lastIndex = at;
      const [text = char, parameters = "", final] = SEQUENCE.exec(line) ?? [];
      at += text.length;
      if (final === "m") style = restyle(style, parameters);
      else if (final !== undefined) column = move(cells, column, final, parameters);
      continue;
    }
    at += char.length;
    if (char === "\r") column = 0;
    else if (char === "\b") column = Math.max(0, column - 1);
    else if (char === "\t") column = put(cells, column, "\t", style);
    else if (char >= " " && !(char >= "\u007f" && char <= "\u009f")) column = put(cells, column, char, style);
  }
  return cells;
}

function put(cells: Cell[], column: number, char: string, style: AnsiStyle): number {
  while (cells.length < column) cells.push({ char: " ", style: PLAIN });
  cells[column] = { char, style };
  return column + 1;
}

/** Moves the cursor within the line, or erases; what concerns other lines is left out. */
function move(cells: Cell[], column: number, final: string, parameters: string): number {
  const count = Number.parseInt(parameters, 10);
  const by = Number.isNaN(count) ? 1 : Math.min(count, COLUMNS_MAX);
  if (final === "C") return Math.min(column + by, COLUMNS_MAX);
  if (final === "D") return Math.max(column - by, 0);
  if (final === "G") return Math.max(by - 1, 0);
  if (final === "K") {
    if (count === 2) cells.length = 0;
    else if (count === 1) cells.fill({ char: " ", style: PLAIN }, 0, Math.min(column + 1, cells.length));
    else cells.length = Math.min(cells.length, column);
  }
  return column;
}

/** Applies the numbers of one "select graphic rendition". */
function restyle(before: AnsiStyle, parameters: string): AnsiStyle {
  const codes = parameters === "" ? [0] : parameters.split(/[;:]/).map(Number);
  let style = before;
  for (let i = 0; i < codes.length; i += 1) {
    const code = codes[i]!;
    if (code === 38 || code === 48) {
      const { color, used } = extendedColor(codes, i + 1);
      style = code === 38 ? { ...style, fg: color } : { ...style, bg: color };
      i += used;
    } else style = restyleBy(style, code);
  }
  return style;
}

function restyleBy(style: AnsiStyle, code: number): AnsiStyle {
  if (code === 0) return PLAIN;
  if (code === 1) return { ...style, bold: true };
  if (code === 2) return { ...style, dim: true };
  if (code === 3) return { ...style, italic: true };
  if (code === 4) return { ...style, underline: true };
  if (code === 7) return { ...style, inverse: true };
  if (code === 22) return { ...style, bold: false, dim: false };
  if (code === 23) return { ...style, italic: false };
  if (code === 24) return { ...style, underline: false };
  if (code === 27) return { ...style, inverse: false };
  if (code === 39) return { ...style, fg: undefined };
  if (code === 49) return { ...style, bg: undefined };
  if (code >= 30 && code <= 37) return { ...style, fg: code - 30 };
  if (code >= 40 && code <= 47) return { ...style, bg: code - 40 };
  if (code >= 90 && code <= 97) return { ...style, fg: code - 82 };
  if (code >= 100 && code <= 107) return { ...style, bg: code - 92 };
  return style;
}

/** A color of the table of 256, or of red, green and blue; undefined where the numbers are none. */
function extendedColor(codes: readonly number[], at: number): { color: number | string | undefined; used: number } {
  if (codes[at] === 5) return { color: tableColor(codes[at + 1]), used: 2 };
  if (codes[at] !== 2) return { color: undefined, used: 1 };
  const parts = codes.slice(at + 1, at + 4);
  const isColor = parts.length === 3 && parts.every(isByte);
  return { color: isColor ? hexColor(parts) : undefined, used: 4 };
}

const isByte = (value: number): boolean => Number.isInteger(value) && value >= 0 && value <= 255;
const hexColor = (parts: readonly number[]): string =>
  `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;

/** The 256 colors of terminals: 16 of the palette, a cube of 6 x 6 x 6, 24 grays. */
function tableColor(code: number | undefined): number | string | undefined {
  if (code === undefined || !isByte(code)) return undefined;
  if (code < 16) return code;
  if (code >= 232) return hexColor(Array.from({ length: 3 }, () => 8 + (code - 232) * 10));
  const levels = [36, 6, 1].map((size) => Math.floor((code - 16) / size) % 6);
  return hexColor(levels.map((level) => (level === 0 ? 0 : 55 + level * 40)));
}

function spansOf(cells: readonly Cell[]): readonly AnsiSpan[] {
  const spans: AnsiSpan[] = [];
  let text = "";
  let style = PLAIN;
  for (const cell of cells) {
    if (cell.style !== style && text !== "") {
      spans.push({ text, style });
      text = "";
    }
    ({ style } = cell);
    text += cell.char;
  }
  if (text !== "") spans.push({ text, style });
  return spans;
}

import katex from "katex";
import { Marked, type MarkedExtension } from "marked";
import { blockMath, inlineMath, type MathToken } from "./math-tokens.ts";

/** Expansions of macros, and the largest size that a formula may ask for, in em. */
const BOUNDS = { maxExpand: 500, maxSize: 20 };

/** Returns MathML, which browsers draw without styles or fonts of ours; a formula with a fault as it was written. */
function markupOf({ raw, tex, isBlock }: MathToken): string {
  try {
    const markup = katex.renderToString(tex, {
      ...BOUNDS,
      displayMode: isBlock,
      output: "mathml",
      strict: "ignore",
      trust: false,
    });
    // The source would be shown behind the formula.
    const [before = "", after = ""] = [markup.split("<annotation", 1)[0], markup.split("</annotation>")[1]];
    return `${before}${after}`;
  } catch {
    return `<code>${escaped(raw.trim())}</code>`;
  }
}

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const extensionOf = (
  name: string,
  level: "block" | "inline",
  find: (text: string) => MathToken | undefined,
): NonNullable<MarkedExtension["extensions"]>[number] => ({
  name,
  level,
  start: (text) => {
    // A block begins a line.
    const at = level === "inline" ? text.indexOf("$") : text.startsWith("$$") ? 0 : text.indexOf("\n$$") + 1;
    return at < 0 || (at === 0 && !text.startsWith("$")) ? undefined : at;
  },
  tokenizer: (text) => {
    const found = find(text);
    return found === undefined ? undefined : { type: name, ...found };
  },
  renderer: (token) => {
    const markup = markupOf(token as unknown as MathToken);
    return level === "block" ? `<p>${markup}</p>` : markup;
  },
});

/** Fonts with tables for formulas that systems have: without one, browsers place indexes badly. A rule that few pages need is not in the style sheet of all. */
function addFonts(): void {
  const sheet = new CSSStyleSheet();
  const fonts = ["Latin Modern Math", "STIX Two Math", "Cambria Math", "Noto Sans Math", "DejaVu Math TeX Gyre"];
  sheet.replaceSync(`.tm-markdown math { font-family: ${fonts.map((font) => `"${font}"`).join(", ")}, math; }`);
  document.adoptedStyleSheets.push(sheet);
}

addFonts();

/** Returns a reader of Markdown with formulas. */
export function mathReader(rules: MarkedExtension): Marked {
  const extensions = [extensionOf("block_math", "block", blockMath), extensionOf("inline_math", "inline", inlineMath)];
  return new Marked(rules, { extensions });
}

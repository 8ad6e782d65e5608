/** A formula in TeX. */
export type MathToken = { readonly raw: string; readonly tex: string; readonly isBlock: boolean };

/** `$$…$$` that ends its line. */
const BLOCK = /^\$\$((?:[^$\\]|\\[\s\S]|\$(?!\$))+)\$\$[ \t]*(?:\n|$)/;
/** `$$…$$` within a line. */
const DISPLAY = /^\$\$((?:[^$\\\n]|\\.)+)\$\$/;
/** `$…$` as Pandoc takes it: no blank inside its ends and no digit behind it, so that prices stay text. */
const INLINE = /^\$(?![\s$])((?:[^$\\\n]|\\.)+)\$(?!\d)/;

/** Whether a text may have formulas. */
export function mayHaveMath(text: string): boolean {
  return /\$[\s\S]*\$/.test(text);
}

/** Returns the formula that is a block of its own at the start of a text. */
export function blockMath(text: string): MathToken | undefined {
  return tokenOf(BLOCK.exec(text), true);
}

/** Returns the formula at the start of a text within a line. */
export function inlineMath(text: string): MathToken | undefined {
  const found = tokenOf(INLINE.exec(text), false);
  if (found === undefined) return tokenOf(DISPLAY.exec(text), true);
  return /\s$/.test(found.tex) ? undefined : found;
}

function tokenOf(match: RegExpExecArray | null, isBlock: boolean): MathToken | undefined {
  const [raw, tex] = match ?? [];
  return raw === undefined || tex === undefined || tex.trim() === "" ? undefined : { raw, tex, isBlock };
}

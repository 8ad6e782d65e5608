import { renderAnsi, type AnsiStyle } from "./ansi.ts";

/** A console line with its colors. Its text stays text, with any content. */
export function AnsiText({ text }: { readonly text: string }) {
  return (
    <>
      {renderAnsi(text).map(({ text: piece, style }, i) => {
        const names = classOf(style);
        const colors = colorsOf(style);
        if (names === "" && colors === undefined) return piece;
        return (
          <span key={i} class={names} {...(colors === undefined ? {} : { style: colors })}>
            {piece}
          </span>
        );
      })}
    </>
  );
}

function classOf({ fg, bg, bold, dim, italic, underline, inverse }: AnsiStyle): string {
  return [
    typeof fg === "number" ? `tm-ansi-${fg}` : "",
    typeof bg === "number" ? `tm-ansi-on-${bg}` : "",
    bold === true ? "tm-ansi-bold" : "",
    dim === true ? "tm-ansi-dim" : "",
    italic === true ? "tm-ansi-italic" : "",
    underline === true ? "tm-ansi-underline" : "",
    inverse === true ? "tm-ansi-inverse" : "",
  ]
    .filter((name) => name !== "")
    .join(" ");
}

function colorsOf({ fg, bg }: AnsiStyle): { color?: string; backgroundColor?: string } | undefined {
  if (typeof fg !== "string" && typeof bg !== "string") return undefined;
  return {
    ...(typeof fg === "string" ? { color: fg } : {}),
    ...(typeof bg === "string" ? { backgroundColor: bg } : {}),
  };
}

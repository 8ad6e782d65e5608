import { EDGE, FONT, type Scene } from "./scene.ts";
import { rounded, svgElement, type SvgElement } from "./svg-element.ts";

/** Writes a picture as a file that shows the same without this page. */
export function svgOf(scene: Scene, title: string): string {
  const { width, height, background, plot } = scene;
  const box = `x="${rounded(plot.left - EDGE)}" y="${rounded(plot.top - EDGE)}" width="${rounded(plot.width + 2 * EDGE)}" height="${rounded(plot.height + 2 * EDGE)}"`;
  const written = (shapes: Scene["around"]): string[] => shapes.map((shape) => elementText(svgElement(shape)));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<defs><clipPath id="plot"><rect ${box}/></clipPath></defs>`,
    `<rect width="100%" height="100%" fill="${escaped(background)}"/>`,
    `<g font-family="${escaped(FONT.family)}" font-size="${FONT.size}" stroke-linejoin="round">`,
    ...written(scene.around),
    `<g clip-path="url(#plot)">`,
    ...written(scene.inside),
    `</g></g></svg>`,
  ].join("\n");
}

function elementText({ name, attributes, content = [] }: SvgElement): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([attribute, value]) => ` ${attribute}="${escaped(String(value))}"`);
  const inner = typeof content === "string" ? escaped(content) : content.map(elementText).join("");
  return `<${name}${written.join("")}${inner === "" ? "/>" : `>${inner}</${name}>`}`;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

// oxlint-disable-next-line no-control-regex -- these are what XML does not allow in any form
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

function escaped(text: string): string {
  return text.replace(FORBIDDEN, "").replace(/[&<>"]/g, (character) => ENTITIES[character]!);
}

import { EDGE, FONT, type Scene, type Shape } from "./scene.ts";

/** Writes a picture as a file that shows the same without this page. */
export function svgOf(scene: Scene, title: string): string {
  const { width, height, background, plot } = scene;
  const box = `x="${tidy(plot.left - EDGE)}" y="${tidy(plot.top - EDGE)}" width="${tidy(plot.width + 2 * EDGE)}" height="${tidy(plot.height + 2 * EDGE)}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<defs><clipPath id="plot"><rect ${box}/></clipPath></defs>`,
    `<rect width="100%" height="100%" fill="${escaped(background)}"/>`,
    `<g font-family="${escaped(FONT.family)}" font-size="${FONT.size}" stroke-linejoin="round">`,
    ...scene.around.map(shapeText),
    `<g clip-path="url(#plot)">`,
    ...scene.inside.map(shapeText),
    `</g></g></svg>`,
  ].join("\n");
}

function shapeText(shape: Shape): string {
  switch (shape.kind) {
    case "path": {
      const dash = shape.dash.length === 0 ? "" : ` stroke-dasharray="${shape.dash.join(" ")}"`;
      return `<path fill="none" stroke="${escaped(shape.stroke)}" stroke-width="${shape.width}"${dash}${opacity(shape.alpha)}${named(shape.label)} d="${traced(shape.points, "")}"/>`;
    }
    case "area":
      return `<path fill="${escaped(shape.fill)}"${opacity(shape.alpha)} d="${traced(shape.points, "Z")}"/>`;
    case "dots": {
      const { points, radius } = shape;
      let circles = "";
      for (let i = 0; i < points.length; i += 2)
        circles += `<circle cx="${tidy(points[i]!)}" cy="${tidy(points[i + 1]!)}" r="${radius}"/>`;
      return `<g fill="${escaped(shape.fill)}"${opacity(shape.alpha)}${named(shape.label)}>${circles}</g>`;
    }
    case "boxes": {
      let d = "";
      for (let i = 0; i < shape.boxes.length; i += 4) {
        const [x, y, w, h] = [0, 1, 2, 3].map((k) => tidy(shape.boxes[i + k]!));
        d += `M${x} ${y}h${w}v${h}h-${w}z`;
      }
      return `<path fill="${escaped(shape.fill)}"${opacity(shape.alpha)} d="${d}"/>`;
    }
    case "text": {
      const turn =
        shape.turn === undefined ? "" : ` transform="rotate(${shape.turn} ${tidy(shape.x)} ${tidy(shape.y)})"`;
      const bold = shape.bold === true ? ' font-weight="600"' : "";
      return `<text x="${tidy(shape.x)}" y="${tidy(shape.y)}" text-anchor="${shape.anchor}" fill="${escaped(shape.fill)}"${bold}${turn}>${escaped(shape.text)}</text>`;
    }
  }
}

function traced(points: Float64Array, end: string): string {
  let d = "";
  let isOpen = false;
  for (let i = 0; i < points.length; i += 2) {
    if (Number.isNaN(points[i])) {
      if (isOpen) d += end;
      isOpen = false;
      continue;
    }
    d += `${isOpen ? "L" : "M"}${tidy(points[i]!)} ${tidy(points[i + 1]!)}`;
    isOpen = true;
  }
  return isOpen ? d + end : d;
}

const named = (label: string | undefined): string => (label === undefined ? "" : ` aria-label="${escaped(label)}"`);
const opacity = (alpha: number): string => (alpha === 1 ? "" : ` opacity="${alpha}"`);

/** A hundredth of a pixel cannot be seen. */
function tidy(pixels: number): string {
  return String(Math.round(pixels * 100) / 100);
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

// oxlint-disable-next-line no-control-regex -- these are what XML does not allow in any form
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

function escaped(text: string): string {
  return text.replace(FORBIDDEN, "").replace(/[&<>"]/g, (character) => ENTITIES[character]!);
}

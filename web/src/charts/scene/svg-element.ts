import { EDGE, FONT, type Scene, type Shape } from "./scene.ts";

/** An element of an SVG picture: its text, or the elements in it. */
export type SvgElement = {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string | number | undefined>>;
  readonly content?: string | readonly SvgElement[];
};

/** Returns the element that shows a shape. Attributes that are undefined are left out. */
export function svgElement(shape: Shape): SvgElement {
  switch (shape.kind) {
    case "path": {
      const { points, stroke, width, dash, alpha, label } = shape;
      return {
        name: "path",
        attributes: {
          fill: "none",
          stroke,
          "stroke-width": width,
          "stroke-dasharray": dash.length === 0 ? undefined : dash.join(" "),
          opacity: opacityOf(alpha),
          "aria-label": label,
          d: pathOf(points, ""),
        },
      };
    }
    case "area":
      return {
        name: "path",
        attributes: { fill: shape.fill, opacity: opacityOf(shape.alpha), d: pathOf(shape.points, "Z") },
      };
    case "dots": {
      const { points, fill, radius, alpha, label } = shape;
      const circles = Array.from({ length: points.length / 2 }, (_, i) => ({
        name: "circle",
        attributes: { cx: rounded(points[2 * i]!), cy: rounded(points[2 * i + 1]!), r: radius },
      }));
      return { name: "g", attributes: { fill, opacity: opacityOf(alpha), "aria-label": label }, content: circles };
    }
    case "boxes": {
      let d = "";
      for (let i = 0; i < shape.boxes.length; i += 4) {
        const [x, y, w, h] = [0, 1, 2, 3].map((k) => rounded(shape.boxes[i + k]!));
        d += `M${x} ${y}h${w}v${h}h-${w}z`;
      }
      return { name: "path", attributes: { fill: shape.fill, opacity: opacityOf(shape.alpha), d } };
    }
    case "text": {
      const { text, anchor, fill, bold, turn, size } = shape;
      const [x, y] = [rounded(shape.x), rounded(shape.y)];
      return {
        name: "text",
        attributes: {
          x,
          y,
          "text-anchor": anchor,
          fill,
          "font-size": size,
          "font-weight": bold === true ? 600 : undefined,
          transform: turn === undefined ? undefined : `rotate(${turn} ${x} ${y})`,
        },
        content: text,
      };
    }
  }
}

function pathOf(points: Float64Array, end: "" | "Z"): string {
  let d = "";
  let isOpen = false;
  for (let i = 0; i < points.length; i += 2) {
    if (Number.isNaN(points[i])) {
      if (isOpen) d += end;
      isOpen = false;
      continue;
    }
    d += `${isOpen ? "L" : "M"}${rounded(points[i]!)} ${rounded(points[i + 1]!)}`;
    isOpen = true;
  }
  return isOpen ? d + end : d;
}

const opacityOf = (alpha: number): number | undefined => (alpha === 1 ? undefined : alpha);

/** Returns pixels with two decimals: a hundredth of a pixel cannot be seen. */
function rounded(pixels: number): number {
  return Math.round(pixels * 100) / 100;
}

/** Writes a picture as a file that shows the same without this page. */
export function svgOf(scene: Scene, title: string): string {
  const { width, height, background, plot } = scene;
  const box = `x="${rounded(plot.left - EDGE)}" y="${rounded(plot.top - EDGE)}" width="${rounded(plot.width + 2 * EDGE)}" height="${rounded(plot.height + 2 * EDGE)}"`;
  const written = (shapes: Scene["around"]): string[] => shapes.map((shape) => elementText(svgElement(shape)));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<defs><clipPath id="plot"><rect ${box}/></clipPath></defs>`,
    ...(background === "transparent" ? [] : [`<rect width="100%" height="100%" fill="${escaped(background)}"/>`]),
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

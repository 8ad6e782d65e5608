import { h, type ComponentChildren, type VNode } from "preact";
import { useId } from "preact/hooks";
import { EDGE, FONT, type Scene, type Shape } from "../charts/scene/scene.ts";
import { svgElement, type SvgElement } from "../charts/scene/svg-element.ts";

type ScenePictureProps = {
  readonly scene: Scene;
  /** Describes the picture for people who do not see it. */
  readonly label: string;
  /** The classes of what belongs to the line with this id. */
  readonly classOf: (line: string) => string;
  /** Drawn above all shapes. */
  readonly children?: ComponentChildren;
};

/** A picture as SVG elements, each line with classes by which the style sheet of the page colors it. */
export function ScenePicture({ scene, label, classOf, children }: ScenePictureProps) {
  const clip = useId();
  const { width, height, plot } = scene;
  const shown = (shape: Shape): VNode => {
    const { name, attributes, content } = svgElement(shape);
    if (!("line" in shape) || shape.line === undefined) return elementNode({ name, attributes, content });
    const { line, kind, label: lineName } = shape;
    const classes = `line ${classOf(line)}${kind === "dots" ? " dots" : ""}`;
    return elementNode({ name, attributes: { ...attributes, class: classes }, content }, `${line} ${kind} ${lineName}`);
  };
  return (
    <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <clipPath id={clip}>
        <rect x={plot.left - EDGE} y={plot.top - EDGE} width={plot.width + 2 * EDGE} height={plot.height + 2 * EDGE} />
      </clipPath>
      <g font-family={FONT.family} font-size={FONT.size} stroke-linejoin="round">
        {scene.around.map(shown)}
        <g clip-path={`url(#${clip})`}>{scene.inside.map(shown)}</g>
      </g>
      {children}
    </svg>
  );
}

function elementNode({ name, attributes, content = [] }: SvgElement, key?: string): VNode {
  return h(
    name,
    { ...attributes, key },
    typeof content === "string" ? content : content.map((one) => elementNode(one)),
  );
}

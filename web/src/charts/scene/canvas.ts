import { fillBands, fillDots, strokeLines, type Pixels } from "./canvas-paths.ts";
import { EDGE, FONT, type Scene, type Shape } from "./scene.ts";

/** Draws a picture; `ratio` is how many pixels of the device one pixel of the picture has. */
export function drawScene(context: CanvasRenderingContext2D, scene: Scene, ratio: number): void {
  const { width, height, plot } = scene;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.lineJoin = "round";
  const pixels: Pixels = { ratio, width };
  for (const shape of scene.around) drawShape(context, shape, pixels);
  context.save();
  context.beginPath();
  context.rect(plot.left - EDGE, plot.top - EDGE, plot.width + 2 * EDGE, plot.height + 2 * EDGE);
  context.clip();
  for (const shape of scene.inside) drawShape(context, shape, pixels);
  context.restore();
  context.globalAlpha = 1;
}

/** Draws one shape. */
function drawShape(context: CanvasRenderingContext2D, shape: Shape, pixels: Pixels): void {
  if (shape.kind === "text") {
    drawText(context, shape);
    return;
  }
  context.globalAlpha = shape.alpha;
  switch (shape.kind) {
    case "path":
      context.strokeStyle = shape.stroke;
      context.lineWidth = shape.width;
      if (shape.dash.length > 0) context.setLineDash([...shape.dash]);
      strokeLines(context, shape.points, {
        pixels,
        isDashed: shape.dash.length > 0,
        isOpaque: shape.alpha === 1,
      });
      if (shape.dash.length > 0) context.setLineDash([]);
      break;
    case "area":
      context.fillStyle = shape.fill;
      fillBands(context, shape.points, pixels.ratio);
      break;
    case "dots": {
      context.fillStyle = shape.fill;
      fillDots(context, shape);
      break;
    }
    case "boxes": {
      context.fillStyle = shape.fill;
      const { boxes } = shape;
      for (let i = 0; i < boxes.length; i += 4)
        context.fillRect(boxes[i]!, boxes[i + 1]!, boxes[i + 2]!, boxes[i + 3]!);
      break;
    }
  }
}

function drawText(context: CanvasRenderingContext2D, shape: Extract<Shape, { kind: "text" }>): void {
  context.globalAlpha = 1;
  context.font = `${shape.bold === true ? "600 " : ""}${shape.size ?? FONT.size}px ${FONT.family}`;
  context.fillStyle = shape.fill;
  context.textAlign = shape.anchor === "middle" ? "center" : shape.anchor;
  context.textBaseline = "alphabetic";
  if (shape.turn === undefined) {
    context.fillText(shape.text, shape.x, shape.y);
    return;
  }
  context.save();
  context.translate(shape.x, shape.y);
  context.rotate((shape.turn * Math.PI) / 180);
  context.fillText(shape.text, 0, 0);
  context.restore();
}

import { histogramOf } from "../histogram.ts";
import type { Item } from "../items.ts";
import type { PointBatches } from "../point-batches.ts";
import type { Warnings } from "../warnings.ts";
import { imageType } from "../media-type.ts";
import type { Tensor } from "./tensor.ts";

/** A value that was written as a tensor, and the data that its items need. */
export type TensorValue = {
  readonly tag: string;
  readonly plugin: string;
  readonly tensor: Tensor;
  readonly at: { readonly run: string; readonly step: number; readonly time?: number };
  readonly points: PointBatches;
  readonly warnings: Warnings;
};

/** Columns of a tensor of the plugin `histograms`: left edge, right edge, count. */
const HISTOGRAM_COLUMNS = 3;

/** The first two texts of a tensor of the plugin `images` are width and height. */
const IMAGE_HEAD = 2;

/** Reads a value by the plugin that its tag belongs to. A single number whose plugin is not known is a scalar. */
export function* readTensorItems(value: TensorValue): Generator<Item> {
  const { tag, plugin, tensor, at, points, warnings } = value;
  const { shape, numbers, texts } = tensor;
  if ((plugin === "scalars" || plugin === "") && numbers.length === 1) {
    points.add(tag, at.step, numbers[0]!, at.time);
  } else if (plugin === "histograms" && shape.length === 2 && shape[1] === HISTOGRAM_COLUMNS) {
    yield* readHistogram(value);
  } else if (plugin === "text") {
    const path = tag.endsWith("/text_summary") ? tag.slice(0, -"/text_summary".length) : tag;
    for (const text of texts) {
      yield { kind: "attribute", path, type: "string_series", ...at, value: text.toString("utf8") };
    }
  } else if (plugin === "images" && texts.length >= IMAGE_HEAD) {
    const metadata = { width: Number(texts[0]), height: Number(texts[1]) };
    const images = texts.slice(IMAGE_HEAD);
    for (const [i, bytes] of images.entries()) {
      const key = images.length === 1 ? tag : `${tag}/${i}`;
      const file = { bytes, size: bytes.length, ...imageType(bytes) };
      yield { kind: "object", object: "image", key, ...at, metadata, file };
    }
  } else if (plugin === "audio" && texts.length > 0) {
    // With labels there are two texts for each sound.
    const sounds = shape.length === 2 ? texts.filter((_, i) => i % shape[1]! === 0) : texts;
    for (const [i, bytes] of sounds.entries()) {
      const key = sounds.length === 1 ? tag : `${tag}/${i}`;
      const file = { bytes, mimeType: "audio/wav", size: bytes.length };
      yield { kind: "object", object: "audio", key, ...at, file };
    }
  } else warnings.add("unsupported", plugin === "" ? tag : `${tag}: values of the plugin ${plugin}`);
}

function* readHistogram({ tag, tensor: { numbers }, at, warnings }: TensorValue): Generator<Item> {
  const column = (index: number): number[] => numbers.filter((_, i) => i % HISTOGRAM_COLUMNS === index);
  const [lefts, rights, counts] = [column(0), column(1), column(2)];
  const histogram = histogramOf([...lefts, ...rights.slice(-1)], counts);
  if (histogram === undefined) warnings.add("malformed_value", tag);
  else yield { kind: "object", object: "histogram", key: tag, ...at, value: histogram };
}

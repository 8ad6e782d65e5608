import { isRounded } from "@tidemark/values";
import { histogramOf } from "../histogram.ts";
import type { Item, RunItem } from "../items.ts";
import { createPointBatches, type PointBatches } from "../point-batches.ts";
import type { Warnings } from "../warnings.ts";
import type { TfEvent } from "./event-file.ts";
import { readSessionInfo, type SessionInfo } from "./session-info.ts";
import { readSummaryValue, type SummaryValue } from "./summary-value.ts";
import type { Tensor } from "./tensor.ts";

/** Makes items of the events of one run. */
export type RunReader = {
  begin(): RunItem;
  read(event: TfEvent): Generator<Item>;
  end(): Generator<Item>;
};

/** Most tags whose plugin is remembered. */
const TAGS_MAX = 100_000;

/** Creates what reads a run. TensorBoard does not know whether a run ended; one that does not say so is finished. */
export function createRunReader(run: string, warnings: Warnings): RunReader {
  const points = createPointBatches(run, warnings);
  const plugins = new Map<string, string>();
  let session: SessionInfo = {};
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

  function* readValue(value: SummaryValue, step: number, time: number): Generator<Item> {
    const { tag, data } = value;
    const at = { run, step, ...(Number.isFinite(time) ? { time } : {}) };
    if (value.plugin !== "" && !plugins.has(tag) && plugins.size < TAGS_MAX) plugins.set(tag, value.plugin);
    const plugin = plugins.get(tag) ?? "";
    if (plugin === "hparams") session = { ...session, ...readSessionInfo(value.pluginData) };
    else if (data.type === "scalar") points.add(tag, step, data.value, time);
    else if (data.type === "histogram") {
      const histogram = histogramOf(data.edges, data.counts);
      if (histogram === undefined) warnings.add("malformed_value", tag);
      else yield { kind: "object", object: "histogram", key: tag, ...at, value: histogram };
    } else if (data.type === "image" || data.type === "audio") {
      const { bytes } = data;
      const type = data.type === "audio" ? { mimeType: data.mimeType } : imageType(bytes);
      const file = { bytes, ...type, size: bytes.length };
      yield { kind: "object", object: data.type, key: tag, ...at, file };
    } else if (data.type === "tensor") {
      if (data.tensor === undefined) warnings.add("unsupported", tag);
      else yield* readTensorItems({ tag, plugin, tensor: data.tensor, at, points, warnings });
    } else warnings.add("unsupported", tag);
  }

  return {
    begin: () => ({ kind: "run", run, source: "tensorboard", name: run, status: "running" }),
    *read({ time, step, longStep, values }) {
      if (longStep !== undefined && isRounded(String(longStep), step)) {
        warnings.add("rounded_integer", `step ${longStep}`, values.length);
      }
      if (time < first) first = time;
      if (time > last) last = time;
      for (const bytes of values) {
        const value = readSummaryValue(bytes);
        if (value === undefined) warnings.add("damaged", `a value at step ${step}`);
        else yield* readValue(value, step, time);
      }
      yield* points.full();
    },
    *end() {
      yield* points.rest();
      const { group, ...known } = session;
      yield {
        kind: "run",
        run,
        source: "tensorboard",
        status: "finished",
        ...(Number.isFinite(first) ? { startedAt: first } : {}),
        ...(Number.isFinite(last) ? { finishedAt: last } : {}),
        ...known,
        ...(group === undefined ? {} : { metadata: { group } }),
      };
    },
  };
}

/** A value that was written as a tensor, and the data that its items need. */
type TensorValue = {
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
function* readTensorItems(value: TensorValue): Generator<Item> {
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

/** The first bytes of kinds of images. */
const signatures: readonly (readonly [string, readonly number[]])[] = [
  ["image/png", [0x89, 0x50, 0x4e, 0x47]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
  ["image/gif", [0x47, 0x49, 0x46, 0x38]],
  ["image/webp", [0x52, 0x49, 0x46, 0x46]],
];

/** Returns the type of an image by its first bytes, as a member to spread; nothing if it is not known. */
function imageType(bytes: Uint8Array): { mimeType?: string } {
  const found = signatures.find(([, signature]) => signature.every((byte, i) => bytes[i] === byte));
  return found === undefined ? {} : { mimeType: found[0] };
}

import { isRounded } from "@tidemark/values";
import { histogramOf } from "../histogram.ts";
import type { Item, RunItem } from "../items.ts";
import { imageType } from "../media-type.ts";
import { createPointBatches } from "../point-batches.ts";
import type { Warnings } from "../warnings.ts";
import type { TfEvent } from "./event.ts";
import { readSessionInfo, type SessionInfo } from "./session-info.ts";
import { readSummaryValue, type SummaryValue } from "./summary-value.ts";
import { readTensorItems } from "./tensor-items.ts";

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

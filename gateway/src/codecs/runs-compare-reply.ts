import type { CompareRunsResponse, ComparisonBlock } from "@tidemark/proto/runs/v1/runs";
import type { RouteReply } from "../route.ts";
import { raw } from "./json.ts";
import { runJson } from "./runs-reply.ts";

/**
 * `{runs, reference_run_id, rows, truncated}`. The rows are written as text: there may be a quarter
 * of a million values in them, and documents among these keep their digits.
 */
export function encodeCompareRuns(response: CompareRunsResponse): RouteReply {
  const { runs, referenceRunId, blocks, truncated } = response;
  const frame = frameOf(
    runs.map(({ id }) => id),
    referenceRunId,
  );
  return {
    body: {
      runs: runs.map(runJson),
      reference_run_id: referenceRunId,
      rows: raw(`[${blocks.flatMap((block) => rowTexts(block, frame)).join(",")}]`),
      truncated,
    },
  };
}

/** What all rows have alike. */
type Frame = {
  /** `"<run id>":` of each run, after a comma from the second one on. */
  readonly names: readonly string[];
  /** All names with null. A stretch of runs without a value is a part of it, from `nullsFrom` of the first one. */
  readonly nulls: string;
  readonly nullsFrom: readonly number[];
  /** The place of the reference among the runs. */
  readonly reference: number;
  readonly referenceText: string;
};

function frameOf(ids: readonly string[], referenceRunId: string): Frame {
  const names = ids.map((id, i) => `${i === 0 ? "" : ","}${JSON.stringify(id)}:`);
  const nullsFrom = [0];
  for (const name of names) nullsFrom.push(nullsFrom.at(-1)! + name.length + "null".length);
  return {
    names,
    nulls: names.map((name) => `${name}null`).join(""),
    nullsFrom,
    reference: ids.indexOf(referenceRunId),
    referenceText: `},"reference_run_id":${JSON.stringify(referenceRunId)},"reference":`,
  };
}

function rowTexts({ paths, different, valuesJson, numbers }: ComparisonBlock, frame: Frame): string[] {
  const valueAt =
    valuesJson.length > 0 ? (at: number) => textAt(valuesJson, at) : (at: number) => numberAt(numbers, at);
  return paths.map((path, row) => {
    const from = row * frame.names.length;
    const reference = valueAt(from + frame.reference) ?? "null";
    const values = valuesText((run) => valueAt(from + run), frame);
    return `{"path":${JSON.stringify(path)},"values":{${values}${frame.referenceText}${reference},"different":${different[row] === true}}`;
  });
}

function valuesText(valueOf: (run: number) => string | undefined, { names, nulls, nullsFrom }: Frame): string {
  let text = "";
  let written = 0;
  for (let run = 0; run < names.length; run += 1) {
    const value = valueOf(run);
    if (value === undefined) continue;
    if (written < run) text += nulls.slice(nullsFrom[written], nullsFrom[run]);
    text += names[run]! + value;
    written = run + 1;
  }
  return written < names.length ? text + nulls.slice(nullsFrom[written]) : text;
}

function textAt(values: readonly string[], at: number): string | undefined {
  return values[at] || undefined;
}

function numberAt(numbers: readonly number[], at: number): string | undefined {
  const value = numbers[at];
  // NaN stands for no value.
  return value === undefined || !Number.isFinite(value) ? undefined : String(value);
}

import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type { CompareRunsRequestSchema, CompareRunsResponse, ComparisonBlock } from "@tidemark/proto/runs/v1/runs";
import { COMPARED_RUNS_MAX } from "@tidemark/limits";
import { createPauses } from "@tidemark/work";
import { raw, writeJson } from "../../http/json.ts";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { described, object, readField } from "../fields/field.ts";
import { queryFlag } from "../fields/number.ts";
import { canonicalUuid, queryText } from "../fields/text.ts";
import { bytesOfComparison, runJson, runSchema } from "./rows.ts";
import { runIdList } from "./body-filter.ts";

const runIds = runIdList(
  COMPARED_RUNS_MAX,
  `Ids of 1 to ${COMPARED_RUNS_MAX} runs, separated by commas; parts between two commas may be blank, and repeated ids count once.`,
);
const runs = runIdList(COMPARED_RUNS_MAX, "The same, read where run_ids is absent. One of them is required.");

const options = object({
  reference_run_id: queryText({
    description:
      "The run with which the others are compared. The first one by default, and for the id of no compared run.",
  }),
  diff_only: described(queryFlag(), "`true`: only the rows in which the runs differ."),
});

/** Query of GET /api/runs/side-by-side. */
export const compareRunsQuery: Schema = {
  ...options.schema,
  properties: { run_ids: runIds.schema, runs: runs.schema, ...(options.schema["properties"] as object) },
};

/** GET /api/runs/side-by-side. @throws bad_request */
export function decodeCompareRuns({ query }: RouteInput): MessageInitShape<typeof CompareRunsRequestSchema> {
  const named = readField(runIds, query, "run_ids") ?? readField(runs, query, "runs");
  if (named === undefined) throw badRequest("run_ids is required", "run_ids");
  const { referenceRunId, diffOnly } = options.read(query);
  return { runIds: [...named], referenceRunId: canonicalUuid(referenceRunId.trim()) ?? "", diffOnly };
}

/** Answer of GET /api/runs/side-by-side. */
export const comparisonSchema: Schema = {
  type: "object",
  required: ["runs", "reference_run_id", "rows", "truncated"],
  properties: {
    runs: { type: "array", items: runSchema, description: "In the order in which they were asked for." },
    reference_run_id: { type: "string", format: "uuid" },
    rows: {
      type: "array",
      maxItems: 5000,
      description: "By path, in the order of code points.",
      items: {
        type: "object",
        required: ["path", "values", "reference_run_id", "reference", "different"],
        properties: {
          path: {
            type: "string",
            description:
              "`attribute/<path>` (its newest value), `config/<top key>`, `metadata/<top key>`, `metric/<key>/latest`, `…/max`, `…/mean`, `…/non_finite_step` (where the newest value is NaN or infinite, its step), `tag/<tag>`.",
          },
          values: {
            type: "object",
            additionalProperties: true,
            description: "By run id; null where a run has none.",
          },
          reference_run_id: { type: "string", format: "uuid" },
          reference: { description: "The value of the reference run." },
          different: { type: "boolean", description: "Whether the runs differ in it." },
        },
      },
    },
    truncated: {
      type: "boolean",
      description:
        "There is more to compare: more than 5,000 rows, more than 32 MiB of values, or more than 3,000,000 values to look at.",
    },
  },
};

/** Answers of up to this many bytes are built as a whole: nearly all are. */
const WHOLE_BYTES_MAX = 1024 * 1024;
/** Characters of a piece of a longer one. */
const PIECE_CHARACTERS = 64 * 1024;

/**
 * `{runs, reference_run_id, rows, truncated}`. The answer is written as text: there may be a quarter of a million values in it, and documents among these
 * keep their digits. Fifty large configs and their rows are 100 MB, which are written while they are sent.
 */
export async function encodeCompareRuns(response: CompareRunsResponse): Promise<RouteReply> {
  if (bytesOfComparison(response) > WHOLE_BYTES_MAX) return { body: null, stream: { pieces: piecesOf(response) } };
  const texts: string[] = [];
  const pauseIfLong = createPauses();
  for (const text of textsOf(response)) {
    texts.push(text);
    const pause = pauseIfLong();
    if (pause !== undefined) await pause;
  }
  return { body: raw(texts.join("")) };
}

async function* piecesOf(response: CompareRunsResponse): AsyncGenerator<Uint8Array, void, undefined> {
  let text = "";
  const pauseIfLong = createPauses();
  for (const next of textsOf(response)) {
    text += next;
    if (text.length >= PIECE_CHARACTERS) {
      yield Buffer.from(text);
      text = "";
    }
    const pause = pauseIfLong();
    if (pause !== undefined) await pause;
  }
  yield Buffer.from(text);
}

/** Writes the answer run by run and row by row. */
function* textsOf({ runs, referenceRunId, blocks, truncated }: CompareRunsResponse): Generator<string, void> {
  let before = '{"runs":[';
  for (const run of runs) {
    yield before + writeJson(runJson(run));
    before = ",";
  }
  const frame = frameOf(
    runs.map(({ id }) => id),
    referenceRunId,
  );
  before = `],"reference_run_id":${JSON.stringify(referenceRunId)},"rows":[`;
  for (const block of blocks) {
    for (const row of rowTexts(block, frame)) {
      yield before + row;
      before = ",";
    }
  }
  yield `${before === "," ? "" : before}],"truncated":${truncated}}`;
}

/** The parts that all rows share. */
type Frame = {
  /** `"<run id>":` of each run, after a comma from the second one on. */
  readonly names: readonly string[];
  /** All names with null. The text of neighboring runs without a value is a part of it, from `nullsFrom` of the first one. */
  readonly nulls: string;
  readonly nullsFrom: readonly number[];
  /** The index of the reference run. */
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

function* rowTexts({ paths, different, valuesJson, numbers }: ComparisonBlock, frame: Frame): Generator<string, void> {
  const valueAt =
    valuesJson.length > 0 ? (at: number) => textAt(valuesJson, at) : (at: number) => numberAt(numbers, at);
  for (const [row, path] of paths.entries()) {
    const from = row * frame.names.length;
    const reference = valueAt(from + frame.reference) ?? "null";
    const values = valuesText((run) => valueAt(from + run), frame);
    yield `{"path":${JSON.stringify(path)},"values":{${values}${frame.referenceText}${reference},"different":${different[row] === true}}`;
  }
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

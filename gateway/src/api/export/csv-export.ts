import { AppError, badRequest } from "@tidemark/errors";
import { EXPORT_LIMITS } from "@tidemark/limits";
import type { Attribute } from "@tidemark/proto/ingest/v1/ingest";
import type { ExportBeginning, ExportedPoints, ExportRunsResponse } from "@tidemark/proto/imports/v1/export";
import type { Run } from "@tidemark/proto/runs/v1/runs";
import { createPauses } from "@tidemark/work";
import { writeJson } from "../../http/json.ts";
import { artifactJson } from "../artifacts/rows.ts";
import { writeAttribute } from "../attributes/attributes.ts";
import { jobJson } from "../imports/rows.ts";
import { writeInstants } from "../metrics/points.ts";
import { projectJson } from "../projects/projects.ts";
import { requireMessage } from "../replies.ts";
import { runJson } from "../runs/rows.ts";
import { anyNumberJson } from "@tidemark/values";
import type { CsvValue } from "@tidemark/values/csv";
import { CSV_HEADER, csvLine, type CsvRow } from "./csv-line.ts";
import { organizationText, pointPieces, seriesRows, tableRows } from "./export-rows.ts";

/** Characters that are gathered before they are passed on as one piece. */
const PIECE_BYTES = 64 * 1024;

/** An export as CSV. */
export type CsvExport = {
  /** @throws bad_request above the limit; service_unavailable when the parts end without an end */
  readonly pieces: AsyncGenerator<Uint8Array, void, undefined>;
  /** Whether rows are left out, which is known after the last piece. */
  readonly truncated: () => boolean;
};

/** Writes an export as CSV. It is refused when it is too large, which is known only after all of it is written: until then nothing may be sent. */
export function csvExport(beginning: ExportBeginning, parts: AsyncIterable<ExportRunsResponse>): CsvExport {
  let isTruncated = beginning.truncated;
  return {
    pieces: piecesOf(beginning, parts, (truncated) => (isTruncated = truncated)),
    truncated: () => isTruncated,
  };
}

async function* piecesOf(
  beginning: ExportBeginning,
  parts: AsyncIterable<ExportRunsResponse>,
  end: (truncated: boolean) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  let sizeBytes = 0;
  let text = CSV_HEADER;
  const take = (): Uint8Array => {
    const piece = Buffer.from(text);
    text = "";
    sizeBytes += piece.length;
    if (sizeBytes > EXPORT_LIMITS.csvBytes) {
      throw badRequest("the export has more than 25 MiB as CSV; export fewer runs, or format=json", "format");
    }
    return piece;
  };
  const linesOf = createLines(beginning);
  const organization = requireMessage(beginning.organization);
  text += csvLine({
    record_type: "organization",
    org_id: organization.id,
    created_at: organization.createdAt,
    json: organizationText(organization),
  });
  const pauseIfLong = createPauses();
  for await (const { part } of parts) {
    for (const line of linesOf(part)) {
      const pause = pauseIfLong();
      if (pause !== undefined) await pause;
      text += line;
      if (text.length >= PIECE_BYTES) yield take();
    }
    if (part.case !== "end") continue;
    end(part.value.truncated);
    yield take();
    return;
  }
  throw new AppError("service_unavailable", "the export broke off");
}

type Part = ExportRunsResponse["part"];

/** Returns a function that writes the lines of parts: each line shows the run to which it belongs, so it remembers the runs. */
function createLines(beginning: ExportBeginning): (part: Part) => Generator<string, void, undefined> {
  const orgId = requireMessage(beginning.organization).id;
  const cells = new Map<string, CsvRow>();
  const ofRun = (runId: string): CsvRow => cells.get(runId) ?? { org_id: orgId, run_id: runId };
  const learn = (run: Run): CsvRow => {
    const { id, orgId: org_id, projectId, name, status } = run;
    const row = { org_id, project_id: projectId, run_id: id, run_name: name, run_status: status };
    cells.set(id, row);
    return row;
  };

  return function* lines(part) {
    switch (part.case) {
      case "projects":
        for (const project of part.value.projects) {
          const { id, orgId: org_id, createdAt } = project;
          const json = writeJson(projectJson(project));
          yield csvLine({ record_type: "project", org_id, project_id: id, created_at: createdAt, json });
        }
        break;
      case "runs":
        for (const run of part.value.runs) {
          yield csvLine({
            record_type: "run",
            ...learn(run),
            created_at: run.createdAt,
            json: writeJson(runJson(run)),
          });
        }
        break;
      case "series":
        for (const row of seriesRows(part.value)) {
          const { key, latest } = row;
          yield csvLine({
            record_type: "metric_series",
            ...ofRun(row.run_id),
            key,
            value: latest ?? undefined,
            json: JSON.stringify(row),
          });
        }
        break;
      case "points":
        yield* pointLines(part.value, orgId, ofRun(part.value.runId));
        break;
      case "attributes":
        for (const attribute of part.value.attributes) yield attributeLine(attribute, ofRun(attribute.runId));
        break;
      case "artifacts":
        for (const artifact of part.value.artifacts) {
          const { id, runId, step, createdAt } = artifact;
          const row = { ...ofRun(runId), artifact_id: id, step, created_at: createdAt };
          yield csvLine({ record_type: "artifact", ...row, json: writeJson(artifactJson(artifact)) });
        }
        break;
      case "tableRows":
        for (const { objectId, index, createdAt, text } of tableRows(part.value, orgId)) {
          const row = { ...ofRun(part.value.runId), attribute_id: objectId, created_at: createdAt, row_index: index };
          yield csvLine({ record_type: "table_object_row", ...row, json: text });
        }
        break;
      case "imports":
        for (const job of part.value.jobs) {
          const { orgId: org_id, projectId: project_id, createdAt: created_at } = job;
          yield csvLine({ record_type: "import", org_id, project_id, created_at, json: writeJson(jobJson(job)) });
        }
        break;
      default:
    }
  };
}

function* pointLines(exported: ExportedPoints, orgId: string, run: CsvRow): Generator<string, void, undefined> {
  const ids = `{"org_id":"${orgId}","run_id":"${exported.runId}","key":`;
  const received = writeInstants();
  const sent = writeInstants();
  for (const { key, points } of pointPieces(exported)) {
    const head = `${ids}${JSON.stringify(key)},"step":`;
    const { steps, values, createdUs, timestampsUs } = points;
    for (let i = 0; i < steps.length; i++) {
      const [step, value, created_at] = [steps[i]!, values[i]!, received(createdUs[i]!)];
      const timestamp = timestampsUs[i] ?? Number.NaN;
      const end = Number.isNaN(timestamp) ? "}" : `,"timestamp":"${sent(timestamp)}"}`;
      const json = `${head}${JSON.stringify(step)},"value":${anyNumberJson(value)},"created_at":"${created_at}"${end}`;
      yield csvLine({ record_type: "metric", ...run, key, step, value, created_at, json });
    }
  }
}

const utf8 = new TextDecoder();

function attributeLine(attribute: Attribute, run: CsvRow): string {
  const { id, path, step, valueJson, loggedAt, createdAt, artifactId } = attribute;
  return csvLine({
    record_type: "attribute",
    ...run,
    artifact_id: artifactId,
    attribute_id: id,
    path,
    step,
    value: valueOf(utf8.decode(valueJson)),
    logged_at: loggedAt,
    created_at: createdAt,
    json: writeJson(writeAttribute(attribute)),
  });
}

/** Returns the value of a cell: the text of a JSON text, the digits of a number, nothing for null, and the JSON of everything else. */
function valueOf(json: string): CsvValue {
  if (json.startsWith('"')) return JSON.parse(json) as string;
  if (json === "null") return undefined;
  return /^-?\d/.test(json) ? { digits: json } : json;
}

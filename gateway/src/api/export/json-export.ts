import { AppError } from "@tidemark/errors";
import { EXPORT_LIMITS } from "@tidemark/limits";
import type {
  ExportBeginning,
  ExportedPoints,
  ExportedTableRows,
  ExportRunsResponse,
} from "@tidemark/proto/imports/v1/export";
import { createPauses, finishInTurns, mapInTurns } from "@tidemark/work";
import { writeJson, type Json } from "../../http/json.ts";
import { artifactJson } from "../artifacts/rows.ts";
import { writeAttribute } from "../attributes/attributes.ts";
import { jobJson } from "../imports/rows.ts";
import { pointsBytesMax, writePoints } from "../metrics/points.ts";
import { projectJson } from "../projects/projects.ts";
import { requireMessage } from "../replies.ts";
import { runJson } from "../runs/rows.ts";
import { organizationText, pointPieces, seriesRows, tableRows } from "./export-rows.ts";

type Part = ExportRunsResponse["part"];

/** The bounds of an export, as its answer names them. */
const limits: Json = {
  runs: EXPORT_LIMITS.runs,
  selected_run_ids: EXPORT_LIMITS.selectedRunIds,
  metrics: EXPORT_LIMITS.metrics,
  metric_series: EXPORT_LIMITS.metricSeries,
  attributes: EXPORT_LIMITS.attributes,
  artifacts: EXPORT_LIMITS.artifacts,
  table_object_rows: EXPORT_LIMITS.tableObjectRows,
  imports: EXPORT_LIMITS.imports,
  csv_bytes: EXPORT_LIMITS.csvBytes,
};

/** The lists of an export after the organizations, in the order in which their rows arrive. */
const LISTS = [
  "projects",
  "runs",
  "metric_series",
  "metrics",
  "attributes",
  "artifacts",
  "table_object_rows",
  "imports",
] as const;

/** The list to which the rows of a part belong. */
const listOf: Readonly<Record<string, (typeof LISTS)[number]>> = {
  projects: "projects",
  runs: "runs",
  series: "metric_series",
  points: "metrics",
  attributes: "attributes",
  artifacts: "artifacts",
  tableRows: "table_object_rows",
  imports: "imports",
};

/**
 * Writes an export as JSON while its parts arrive.
 * @throws service_unavailable when the parts end without an end
 */
export async function* jsonExport(
  beginning: ExportBeginning,
  parts: AsyncIterable<ExportRunsResponse>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const organization = requireMessage(beginning.organization);
  const time = JSON.stringify(beginning.exportedAt);
  let before = `{"version":1,"exported_at":${time},"generated_at":${time},"organizations":[${organizationText(organization)}]`;
  let list = -1;
  /** Closes the previous list and opens all lists up to this one. */
  const goTo = (index: number): void => {
    for (; list < index; list++) before += `${list < 0 ? "" : "]"},"${LISTS[list + 1]}":[`;
  };
  let hasRows = false;
  let isComplete = false;
  for await (const { part } of parts) {
    if (part.case === "end") {
      goTo(LISTS.length - 1);
      yield Buffer.from(`${before}],"limits":${writeJson(limits)},"truncated":${part.value.truncated}}`);
      isComplete = true;
      continue;
    }
    const index = LISTS.indexOf(listOf[part.case ?? ""]!);
    if (index < 0) continue;
    if (index > list) hasRows = false;
    goTo(index);
    for await (const rows of rowsOf(part, organization.id)) {
      if (rows.length === 0) continue;
      yield Buffer.from(`${before}${hasRows ? "," : ""}`);
      yield rows;
      before = "";
      hasRows = true;
    }
  }
  if (!isComplete) throw new AppError("service_unavailable", "the export broke off");
}

/** Returns the rows of a part, with commas between them, in one piece or several, in turns with other work of the process. */
async function* rowsOf(part: Part, orgId: string): AsyncGenerator<Buffer, void, undefined> {
  if (part.case === "points") yield* pointRows(part.value, orgId);
  else yield Buffer.from((await textsOf(part, orgId)).join(","));
}

async function textsOf(part: Part, orgId: string): Promise<readonly string[]> {
  switch (part.case) {
    case "projects":
      return mapInTurns(part.value.projects, (project) => writeJson(projectJson(project)));
    case "runs":
      return mapInTurns(part.value.runs, (run) => writeJson(runJson(run)));
    case "series":
      return mapInTurns(seriesRows(part.value), (row) => JSON.stringify(row));
    case "attributes":
      return mapInTurns(part.value.attributes, (attribute) => writeJson(writeAttribute(attribute)));
    case "artifacts":
      return mapInTurns(part.value.artifacts, (artifact) => writeJson(artifactJson(artifact)));
    case "tableRows":
      return finishInTurns(tableTexts(part.value, orgId));
    case "imports":
      return mapInTurns(part.value.jobs, (job) => writeJson(jobJson(job)));
    default:
      return [];
  }
}

function* tableTexts(exported: ExportedTableRows, orgId: string): Generator<void, string[]> {
  const texts: string[] = [];
  for (const { text } of tableRows(exported, orgId)) {
    texts.push(text);
    yield;
  }
  return texts;
}

async function* pointRows(exported: ExportedPoints, orgId: string): AsyncGenerator<Buffer, void, undefined> {
  const pauseIfLong = createPauses();
  const ids = `"org_id":"${orgId}","run_id":"${exported.runId}",`;
  for (const { key, points } of pointPieces(exported)) {
    const bytes = Buffer.allocUnsafe(pointsBytesMax(key, points, ids));
    yield bytes.subarray(0, writePoints(bytes, 0, key, points, ids));
    const pause = pauseIfLong();
    if (pause !== undefined) await pause;
  }
}

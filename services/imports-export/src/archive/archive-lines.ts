import {
  ARCHIVE_PRODUCT,
  ARCHIVE_VERSION,
  encodeLine,
  LINE_LENGTHS_MAX,
  noCounts,
  rowsOfChunk,
  type ArchiveLine,
  type CountedType,
} from "@tidemark/archive";
import type { ExportArchiveRequest } from "@tidemark/proto/imports/v1/archive";
import { callerOf } from "@tidemark/requests";
import type { Call } from "@tidemark/rpc";
import { boundedParts } from "../commit/slices.rules.ts";
import { type ArchiveClients, groupsOf, readSelectedRuns, type SelectedRuns } from "./selected-runs.ts";
import { columnsOf, pointLines } from "./points.rules.ts";
import {
  artifactLine,
  attributeLine,
  collectionLine,
  consoleLine,
  edgeOf,
  entryOf,
  objectLine,
  projectLine,
  rankPointsLine,
  reportLine,
  runLine,
  spanOf,
  versionLine,
  viewLine,
} from "./row-lines.rules.ts";

type Lines = AsyncGenerator<string, void, undefined>;
type Counts = Record<CountedType, number>;

/** Dependencies of the parts of an export. */
type Export = { readonly clients: ArchiveClients; readonly call: Call; readonly counts: Counts };

/**
 * Writes an archive line by line: the project, its runs, then for each group of runs their artifacts before rows that may refer to them, then versions,
 * reports and views, and all counts. Only one service is read at a time.
 * @throws bad_request, not_found before the first line
 */
export async function* archiveLines(
  clients: ArchiveClients,
  request: ExportArchiveRequest,
  call: Call,
  now: Date,
): Lines {
  const counts = noCounts();
  const all: Export = { clients, call, counts };
  const selected: SelectedRuns = { projects: [], runIds: [] };
  let isFirst = true;
  for await (const row of readSelectedRuns(clients, request, call, selected)) {
    if (isFirst) yield encodeLine(firstLine(request, selected, call, now));
    isFirst = false;
    yield counted(all, "run" in row ? runLine(row) : projectLine(row as Parameters<typeof projectLine>[0]));
  }
  for (const runIds of groupsOf(selected.runIds)) yield* linesOfRuns(all, runIds);
  yield* versionLines(all, request, selected);
  if (request.runIds.length === 0) yield* reportLines(all, selected.projects[0]!.id);
  for await (const { view } of clients.reports.exportViews({}, call)) yield counted(all, viewLine(view!));
  yield encodeLine({ line: "end", counts });
}

/** Writes a line of a row, and counts it. */
function counted({ counts }: Export, line: ArchiveLine & { readonly line: CountedType }): string {
  counts[line.line] += 1;
  return encodeLine(line);
}

function firstLine({ runIds }: ExportArchiveRequest, { projects }: SelectedRuns, call: Call, now: Date): ArchiveLine {
  const selection =
    runIds.length > 0
      ? { run_ids: runIds, project_id: undefined }
      : { project_id: projects[0]!.id, run_ids: undefined };
  return {
    line: "export",
    version: ARCHIVE_VERSION,
    product: ARCHIVE_PRODUCT,
    exported_at: now.toISOString(),
    org_id: callerOf(call).orgId,
    selection,
  };
}

async function* linesOfRuns(all: Export, runIds: string[]): Lines {
  const { clients, call, counts } = all;
  for await (const { artifacts } of clients.artifacts.exportArtifacts({ runIds }, call)) {
    for (const artifact of artifacts) yield counted(all, artifactLine(artifact));
  }
  for await (const message of clients.ingest.exportPoints({ runIds }, call)) {
    const columns = columnsOf(message);
    for (const { values } of columns.series) counts.points += values.length;
    yield* pointLines(columns);
  }
  for await (const message of clients.ingest.exportRankPoints({ runIds }, call)) {
    const line = rankPointsLine(message);
    counts.rank_points += line.columns.value.length;
    yield encodeLine(line);
  }
  for await (const message of clients.ingest.exportLogLines({ runIds }, call)) {
    counts.lines += message.messages.length;
    for (const { from, to } of boundedParts(message.messages, LINE_LENGTHS_MAX.lines, ({ length }) => length)) {
      yield encodeLine(consoleLine(message, from, to));
    }
  }
  for await (const { attributes } of clients.ingest.exportAttributes({ runIds }, call)) {
    for (const attribute of attributes) yield counted(all, attributeLine(attribute));
  }
  yield* objectLines(all, runIds);
  yield* traceLines(all, runIds);
}

async function* objectLines(all: Export, runIds: string[]): Lines {
  let id = 0;
  for await (const { rows } of all.clients.ingest.exportObjects({ runIds }, all.call)) {
    if (rows.case === "object") {
      ({ id } = rows.value);
      yield counted(all, objectLine(rows.value));
    } else if (rows.case === "tableRows") {
      const texts = rowsOfChunk(rows.value, 0, rows.value.rowCount);
      for (const { from, to } of boundedParts(texts, LINE_LENGTHS_MAX.rows, ({ length }) => length)) {
        yield encodeLine({ line: "object.rows", id, rows: texts.slice(from, to) });
      }
    }
  }
}

async function* traceLines(all: Export, runIds: string[]): Lines {
  for await (const message of all.clients.traces.exportTraces({ runIds }, all.call)) {
    const { runId: run_id, traceId: trace_id, updatedUs, continues } = message;
    if (!continues) yield counted(all, { line: "trace", run_id, trace_id, updated_at: updatedUs });
    const spans = message.spans.map(spanOf);
    const weigh = (span: (typeof spans)[number]): number =>
      [span.attributes, span.metrics, span.links, span.input_preview, span.output_preview, span.error_preview].reduce(
        (sum, text) => sum + (text?.length ?? 0),
        500,
      );
    for (const { from, to } of boundedParts(spans, LINE_LENGTHS_MAX.spans, weigh)) {
      yield encodeLine({ line: "trace.spans", run_id, trace_id, spans: spans.slice(from, to) });
    }
  }
}

async function* versionLines(all: Export, request: ExportArchiveRequest, { projects }: SelectedRuns): Lines {
  const { clients, call } = all;
  const of = request.runIds.length > 0 ? { runIds: request.runIds } : { projectId: projects[0]!.id };
  let id = "";
  for await (const { rows } of clients.artifacts.exportVersions(of, call)) {
    if (rows.case === "collection") yield counted(all, collectionLine(rows.value));
    else if (rows.case === "version") {
      ({ id } = rows.value);
      yield counted(all, versionLine(rows.value));
    } else if (rows.case === "entries") {
      const entries = rows.value.entries.map(entryOf);
      for (const { from, to } of boundedParts(entries, LINE_LENGTHS_MAX.entries, ({ path }) => path.length + 200)) {
        yield encodeLine({ line: "version.entries", id, entries: entries.slice(from, to) });
      }
    } else if (rows.case === "edges") {
      yield encodeLine({ line: "version.edges", id, edges: rows.value.edges.map(edgeOf) });
    }
  }
}

async function* reportLines(all: Export, projectId: string): Lines {
  for await (const { report } of all.clients.reports.exportReports({ projectId }, all.call)) {
    yield counted(all, reportLine(report!));
  }
}

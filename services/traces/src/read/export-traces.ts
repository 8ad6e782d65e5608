import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ExportedSpanSchema, TracesArchiveService } from "@tidemark/proto/traces/v1/archive";
import { exportedRuns } from "@tidemark/requests";
import type { Handlers } from "@tidemark/rpc";
import { createByteReader, readPayload, readTree, unpack } from "@tidemark/codecs/spans";
import type { TracesDeps } from "../deps.ts";
import { copyPayload, readSegmentsOfTrace, readTracesOfRun, type StoredSegment } from "../state/segments.sql.ts";
import { encodeExportedSpan } from "./encode-trace.ts";

type Span = MessageInitShape<typeof ExportedSpanSchema>;

/** Returns the handlers of TracesArchiveService. ExportTraces throws bad_request, not_found. */
export function archiveHandlers({
  db,
  runs,
}: Pick<TracesDeps, "db" | "runs">): Handlers<(typeof TracesArchiveService)["method"]> {
  return {
    async *exportTraces(request, call) {
      const { orgId, runIds } = await exportedRuns(runs, request.runIds, call);
      yield* db.streamTenant(
        orgId,
        async function* (tx) {
          for (const runId of runIds) {
            for await (const trace of readTracesOfRun(tx, orgId, runId)) {
              const traceId = trace.traceId.replaceAll("-", "");
              let continues = false;
              for await (const segment of readSegmentsOfTrace(tx, orgId, runId, trace.traceId)) {
                yield { runId, traceId, updatedUs: trace.updatedUs, continues, spans: spansOf(segment) };
                continues = true;
              }
            }
          }
        },
        { plans: "walks" },
      );
    },
  };
}

/** Decodes the records of a segment. */
function spansOf({ tree, payloads }: StoredSegment): Span[] {
  const from = createByteReader(unpack(payloads));
  const spans: Span[] = [];
  readTree(tree, (record) => spans.push(encodeExportedSpan(record, copyPayload(readPayload(from)))));
  return spans;
}

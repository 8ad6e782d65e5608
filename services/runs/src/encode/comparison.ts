import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CompareRunsResponseSchema } from "@tidemark/proto/runs/v1/runs";
import type { Comparison } from "../domain/comparison.ts";
import { encodeRun } from "../read/encode-run.ts";
import type { RunRow } from "../read/runs.sql.ts";

/** Runs beside each other as their message. */
export function encodeComparison(
  runs: readonly RunRow[],
  referenceRunId: string,
  comparison: Comparison,
): MessageInitShape<typeof CompareRunsResponseSchema> {
  return {
    runs: runs.map(encodeRun),
    referenceRunId,
    blocks: comparison.blocks.map(({ paths, different, texts, numbers }) => ({
      paths,
      different,
      valuesJson: texts,
      numbers,
    })),
    truncated: !comparison.isOpen(),
  };
}

import type { PointColumns } from "@tidemark/proto/ingest/v1/ingest";
import { writeInstants } from "./instant-text.ts";

/**
 * The points of one key as JSON objects, comma between them: `key`, `step`, `value`, `created_at`, and
 * `timestamp` where the client sent one. Written as one text, because an object per point costs
 * several times as much.
 */
export function writePoints(key: string, points: PointColumns): string {
  const { steps, values, createdUs, timestampsUs } = points;
  const head = `{"key":${JSON.stringify(key)},"step":`;
  const created = writeInstants();
  const sent = writeInstants();
  let text = "";
  for (let i = 0; i < steps.length; i++) {
    if (i > 0) text += ",";
    text += `${head}${steps[i]!},"value":${values[i]!},"created_at":"${created(createdUs[i]!)}"`;
    const timestamp = timestampsUs[i];
    text += timestamp === undefined || Number.isNaN(timestamp) ? "}" : `,"timestamp":"${sent(timestamp)}"}`;
  }
  return text;
}

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ModelPointSchema } from "@tidemark/proto/artifacts/v1/models";
import { isObject, object, withDefault } from "../../../api/fields/field.ts";
import { anyText } from "../fields.ts";
import { readModelId } from "../models/ids.ts";
import { createPointReader } from "./points.ts";

const text = withDefault(anyText(), "");
const dataset = object({ dataset_name: text, dataset_digest: text });

/** Returns the points of a request that are also metrics of logged models. @throws bad_request, not_found for an unknown form of a model id */
export function readModelPoints(sent: unknown): MessageInitShape<typeof ModelPointSchema>[] {
  const readPoint = createPointReader();
  return (Array.isArray(sent) ? sent : [])
    .filter(isObject)
    .filter((item) => typeof item["model_id"] === "string" && item["model_id"] !== "")
    .map((item) => {
      const { key, value, step, timestamp } = readPoint(item);
      const point = { key, value, step: BigInt(step), timeMs: BigInt(timestamp), ...dataset.read(item) };
      return { modelId: readModelId(item["model_id"]), metric: point };
    });
}

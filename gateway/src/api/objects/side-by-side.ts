import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import { OBJECT_KINDS, OBJECTS_SIDE_BY_SIDE_MAX, OBJECTS_SIDE_BY_SIDE_RUNS_MAX } from "@tidemark/limits";
import type {
  ListObjectKeysRequestSchema,
  ListObjectKeysResponse,
  ListObjectsAtStepRequestSchema,
  ListObjectsAtStepResponse,
} from "@tidemark/proto/ingest/v1/objects";
import { writeListInTurns } from "../../http/json.ts";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { checked, described, list, object, optional, readField } from "../fields/field.ts";
import { step } from "../fields/number.ts";
import { text, uuid } from "../fields/text.ts";
import { booleanSchema, listSchema, numberSchema, objectSchema, textSchema, uuidSchema } from "../replies.ts";
import { runIdList } from "../runs/body-filter.ts";
import { objectJson, richObjectSchema } from "./objects.ts";

const runIds = runIdList(
  OBJECTS_SIDE_BY_SIDE_RUNS_MAX,
  `Ids of 1 to ${OBJECTS_SIDE_BY_SIDE_RUNS_MAX} runs, separated by commas.`,
);

/** Query of GET /api/objects/keys. */
export const objectKeysQuery: Schema = {
  type: "object",
  required: ["run_ids"],
  properties: { run_ids: runIds.schema },
};

/** GET /api/objects/keys. @throws bad_request */
export function decodeObjectKeys({ query }: RouteInput): MessageInitShape<typeof ListObjectKeysRequestSchema> {
  const named = readField(runIds, query, "run_ids");
  if (named === undefined) throw badRequest("run_ids is required", "run_ids");
  return { runIds: [...named] };
}

/** Answer of GET /api/objects/keys. */
export const objectKeysSchema = objectSchema({
  keys: listSchema(
    objectSchema({
      key: textSchema,
      kinds: { ...listSchema({ type: "string", enum: OBJECT_KINDS }), description: "Of the last object of each run." },
      run_ids: { ...listSchema(uuidSchema), description: "The runs that have it, in the order of the query." },
      steps: { ...listSchema(numberSchema), description: "Of its objects in any of the runs, each once, ascending." },
      steps_truncated: { ...booleanSchema, description: "Of some run only the last steps are among them." },
    }),
  ),
  truncated: { ...booleanSchema, description: "Some run has more keys." },
});

/** `{"keys": [{"key", "kinds", "run_ids", "steps", "steps_truncated"}, …], "truncated"}`. */
export async function encodeObjectKeys({ keys, truncated }: ListObjectKeysResponse): Promise<RouteReply> {
  const written = await writeListInTurns(keys, ({ key, kinds, runIds: ofKey, steps, stepsTruncated }) => ({
    key,
    kinds,
    run_ids: ofKey,
    steps,
    steps_truncated: stepsTruncated,
  }));
  return { body: { keys: written, truncated } };
}

/** Body of POST /api/objects/at-step. */
export const objectsAtStepBody = checked(
  object({
    run_ids: list(uuid(), { itemsMin: 1, itemsMax: OBJECTS_SIDE_BY_SIDE_RUNS_MAX }),
    keys: described(
      list(text(), { itemsMin: 1, itemsMax: OBJECTS_SIDE_BY_SIDE_MAX }),
      `Exactly these. The number of runs times that of keys is at most ${OBJECTS_SIDE_BY_SIDE_MAX}.`,
    ),
    step: described(optional(step()), "Without it the last objects are read."),
  }),
  ({ runIds: runs, keys }) => {
    const most = Math.floor(OBJECTS_SIDE_BY_SIDE_MAX / new Set(runs).size);
    if (new Set(keys).size > most) throw badRequest(`keys may have at most ${most} items for these runs`, "keys");
  },
);

/** POST /api/objects/at-step. @throws bad_request */
export function decodeObjectsAtStep({ body }: RouteInput): MessageInitShape<typeof ListObjectsAtStepRequestSchema> {
  return objectsAtStepBody.read(body);
}

/** Answer of POST /api/objects/at-step. */
export const objectsAtStepSchema = objectSchema({ objects: listSchema(richObjectSchema) });

/** `{"objects": [row, …]}`. */
export async function encodeObjectsAtStep({ objects }: ListObjectsAtStepResponse): Promise<RouteReply> {
  return { body: { objects: await writeListInTurns(objects, objectJson) } };
}

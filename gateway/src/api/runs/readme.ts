import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import { README_BYTES_MAX } from "@tidemark/limits";
import type { PutReadmeRequestSchema } from "@tidemark/proto/runs/v1/runs";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { object, required, withFault, type Field } from "../fields/field.ts";
import { WITHOUT_NUL } from "../fields/text.ts";
import { objectSchema } from "../replies.ts";
import { pathRunId } from "./read.ts";

/** Describes a text of many lines, which keeps the white space around it and may be empty. */
function markdown(): Field<string> {
  const schema = {
    type: "string",
    maxLength: README_BYTES_MAX,
    pattern: WITHOUT_NUL,
    description: `At most ${README_BYTES_MAX} bytes in UTF-8, kept as sent; the empty text clears the readme.`,
  };
  return required(schema, (value, name) => {
    if (typeof value !== "string") throw badRequest(`${name} must be a text`, name);
    if (Buffer.byteLength(value) > README_BYTES_MAX) {
      throw badRequest(`${name} must have at most ${README_BYTES_MAX} bytes`, name);
    }
    if (value.includes("\0") || !value.isWellFormed()) {
      throw badRequest(`${name} must not contain NUL or lone surrogates`, name);
    }
    return value;
  });
}

/** Body of PUT /api/runs/{run_id}/readme. */
export const readmeBody = object({ markdown: markdown() });

/** `{markdown}`. */
export const readmeSchema: Schema = objectSchema({
  markdown: { type: "string", description: "The empty text where it was never written, or was cleared." },
});

/** GET /api/runs/{run_id}/readme. */
export function decodeGetReadme(input: RouteInput): { runId: string } {
  return { runId: pathRunId(input) };
}

/** PUT /api/runs/{run_id}/readme. Faults of the body travel with the request, because a missing run takes precedence. */
export function decodePutReadme(input: RouteInput): MessageInitShape<typeof PutReadmeRequestSchema> {
  const { value, fault } = withFault(() => readmeBody.read(input.body));
  return { runId: pathRunId(input), ...value, bodyFault: fault };
}

/** `{markdown}`. */
export function encodeReadme({ markdown: text }: { readonly markdown: string }): RouteReply {
  return { body: { markdown: text } };
}

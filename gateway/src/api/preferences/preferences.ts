import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Preferences, SetPreferencesRequestSchema } from "@tidemark/proto/reports/v1/preferences";
import type { RouteInput, RouteReply } from "../../route.ts";
import { described, object } from "../fields/field.ts";
import { textOrAbsent } from "../fields/text.ts";
import { requireMessage } from "../replies.ts";
import { objectSchema, textOrNullSchema, timeOrNullSchema } from "../schemas.ts";

/** Body of PUT /api/dashboard/preferences. */
export const setPreferencesBody = object({
  selected_project: described(textOrAbsent(), "Absent, null or blank: none."),
});

/** PUT /api/dashboard/preferences. @throws bad_request */
export function decodeSetPreferences({ body }: RouteInput): MessageInitShape<typeof SetPreferencesRequestSchema> {
  return setPreferencesBody.read(body);
}

/** `{"preferences": {selected_project, updated_at}}`; both are null until something was saved. */
export function encodePreferences({ preferences }: { readonly preferences?: Preferences | undefined }): RouteReply {
  const { selectedProject, updatedAt } = requireMessage(preferences);
  return { body: { preferences: { selected_project: selectedProject ?? null, updated_at: updatedAt ?? null } } };
}

/** The answer of both routes. */
export const preferencesSchema = objectSchema({
  preferences: objectSchema({ selected_project: textOrNullSchema, updated_at: timeOrNullSchema }),
});

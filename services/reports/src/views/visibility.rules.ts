import { badRequest } from "@tidemark/errors";
import { VIEW_VISIBILITIES, type ViewVisibility } from "@tidemark/limits";

/** Reads the visibility of a view; an empty text is the default. @throws bad_request */
export function readVisibility(text: string): ViewVisibility {
  const visibility = VIEW_VISIBILITIES.find((known) => known === (text || VIEW_VISIBILITIES[0]));
  if (visibility !== undefined) return visibility;
  throw badRequest(`visibility must be one of ${VIEW_VISIBILITIES.join(", ")}`, "visibility");
}

import type { ArchiveLine } from "@tidemark/archive";
import { readExactJson } from "@tidemark/documents";
import { badRequest } from "@tidemark/errors";
import { ATTRIBUTE_TYPES } from "@tidemark/limits";
import { checkInstant, checkName, checkStep, readObjectText } from "./documents-of-lines.rules.ts";

const utf8 = new TextEncoder();

/**
 * Checks a line of an attribute by the rules of the service that stores it; lines of other kinds pass. A value may have any length, because attributes
 * never had a limit other than that of a request.
 * @throws bad_request
 */
export function checkAttributes(line: ArchiveLine): void {
  if (line.line !== "attribute") return;
  checkName(line.path, "path");
  if (!ATTRIBUTE_TYPES.some((known) => known === line.attribute_type)) {
    throw badRequest(`attribute_type must be one of ${ATTRIBUTE_TYPES.join(", ")}`, "attribute_type");
  }
  checkStep(line.step);
  checkInstant(line.logged_at, "logged_at");
  checkInstant(line.created_at, "created_at");
  readExactJson(utf8.encode(line.value), "value");
  readObjectText(line.summary, "summary", Number.POSITIVE_INFINITY);
}

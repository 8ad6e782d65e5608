/**
 * Readers of request fields. Each takes the fields (a parsed body or a query), the name of one of them, and its bounds;
 * it returns the value or throws `bad_request` with a text for the caller and the field's name. A field that is `null`
 * counts as absent, unknown fields are never looked at (API specification, Errors; field rules).
 */
export { withFault } from "./present.ts";
export { readDocument, readOptionalDocument, writeDocument } from "./document.ts";
export { parseInstant, readOptionalInstant } from "./instant.ts";
export { readInteger, readNumber, readOptionalInteger, readOptionalStep, readStep, toNumber } from "./number.ts";
export { present, readList, readOptionalBoolean, readOptionalEnum, readRequiredEnum, type Fields } from "./present.ts";
export { readLimit, readOffset, readQueryBoolean, readQueryInteger, readQueryNumber } from "./number.ts";
export { isRawNumber, rawNumber } from "../../http/json.ts";
export {
  canonicalUuid,
  readOptionalText,
  readOptionalUuid,
  readText,
  readTextList,
  readUuid,
  readUuidList,
  requireText,
} from "./text.ts";

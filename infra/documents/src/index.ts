export {
  DOCUMENT_DEPTH_MAX,
  exactDecimal,
  exactNumber,
  fingerprintOf,
  isSameJson,
  parseExact,
  readDocument,
  writeCanonical,
  type ExactJson,
  type ExactObject,
} from "./exact-json.ts";

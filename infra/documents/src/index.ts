export {
  DOCUMENT_DEPTH_MAX,
  exactDecimal,
  exactNumber,
  fingerprintOf,
  isSameJson,
  parseExact,
  readDocument,
  readExactJson,
  writeCanonical,
  type ExactJson,
  type ExactObject,
} from "./exact-json.ts";

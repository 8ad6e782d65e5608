export { isExactNumber } from "@tidemark/values";
export {
  canonicalInTurns,
  fingerprintInTurns,
  readDocumentInTurns,
  writeCanonicalInTurns,
  writeInSteps,
} from "./document-turns.ts";
export {
  DOCUMENT_DEPTH_MAX,
  exactDecimal,
  exactNumber,
  fingerprintOf,
  parseExact,
  readDocument,
  readExactJson,
  sameJsonAs,
  writeCanonical,
  type ExactJson,
  type ExactObject,
} from "./exact-json.ts";
export {
  BODY_DEPTH_MAX,
  parseJsonObject,
  parseJsonObjectInTurns,
  parseOwnJsonInTurns,
  type ExactNumbers,
} from "./json-body.ts";

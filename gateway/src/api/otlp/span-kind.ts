import { SPAN_KINDS } from "@tidemark/limits";
import type { Attributes } from "@tidemark/otlp";
import { SpanKind } from "@tidemark/proto/traces/v1/traces";

/** Kinds by the words of OpenInference, `openinference.span.kind` (its semantic conventions). */
const openInferenceKinds: Readonly<Record<string, SpanKind>> = {
  LLM: SpanKind.MODEL,
  EMBEDDING: SpanKind.MODEL,
  TOOL: SpanKind.TOOL,
  RETRIEVER: SpanKind.RETRIEVAL,
  RERANKER: SpanKind.RETRIEVAL,
  EVALUATOR: SpanKind.EVALUATOR,
};

/** Kinds by the words of OpenTelemetry's conventions for generative AI, `gen_ai.operation.name`. */
const operationKinds: Readonly<Record<string, SpanKind>> = {
  chat: SpanKind.MODEL,
  text_completion: SpanKind.MODEL,
  generate_content: SpanKind.MODEL,
  embeddings: SpanKind.MODEL,
  execute_tool: SpanKind.TOOL,
};

/** Kinds by their own words. */
const ownKinds: ReadonlyMap<string, SpanKind> = new Map(SPAN_KINDS.map((word, index) => [word, index + 1]));

/** Returns the kind of a span: the first of `tidemark.kind`, `openinference.span.kind` and `gen_ai.operation.name` whose word is known, otherwise `custom`. */
export function kindOf(attributes: Attributes): SpanKind {
  const word = (name: string): string => attributes.get(name)?.text ?? "";
  return (
    ownKinds.get(word("tidemark.kind")) ??
    named(openInferenceKinds, word("openinference.span.kind").toUpperCase()) ??
    named(operationKinds, word("gen_ai.operation.name")) ??
    SpanKind.CUSTOM
  );
}

function named(kinds: Readonly<Record<string, SpanKind>>, word: string): SpanKind | undefined {
  return Object.hasOwn(kinds, word) ? kinds[word] : undefined;
}

import { SPAN_KINDS } from "@tidemark/limits";
import type { AnyValue, Attributes, OtlpSpan } from "@tidemark/otlp";
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

const usage = /^gen_ai\.usage\./;

/** Names of token counts that the list of traces adds up, and the names under which others report them, the newest first. */
const tokens: readonly (readonly [name: string, others: readonly string[]])[] = [
  ["gen_ai.usage.input_tokens", ["gen_ai.usage.prompt_tokens", "llm.token_count.prompt"]],
  ["gen_ai.usage.output_tokens", ["gen_ai.usage.completion_tokens", "llm.token_count.completion"]],
];

/** Returns the attributes that are also metrics: the numbers of `gen_ai.usage.*`, and token counts under their current names. */
export function metricsOf(attributes: Attributes): Attributes {
  const metrics = new Map<string, AnyValue>();
  for (const [name, value] of attributes) {
    if (value.number !== undefined && usage.test(name)) metrics.set(name, value);
  }
  for (const [name, others] of tokens) {
    if (metrics.has(name)) continue;
    const value = others.map((other) => attributes.get(other)).find((other) => other?.number !== undefined);
    if (value !== undefined) metrics.set(name, value);
  }
  return metrics;
}

/**
 * Attributes that hold the input or output of a model: of OpenInference, of OpenTelemetry's conventions for generative AI, and those that older
 * instrumentations flatten, one attribute a message.
 */
const content =
  /^(?:(?:input|output)\.value$|gen_ai\.(?:.*\.)?messages$|gen_ai\.(?:prompt|completion|system_instructions)(?:\.|$)|llm\.(?:input|output)_messages(?:\.|$)|llm\.prompts(?:\.|$))/;

/** Events that hold a prompt or a completion (`gen_ai.user.message`, `gen_ai.content.completion`, …). */
const contentEvent = /^gen_ai\.(?:content\.(?:prompt|completion)|choice|(?:system|user|assistant|tool)\.message)$/;

/** Returns the attributes that hold no content. */
export function withoutContent(attributes: Attributes): Attributes {
  return new Map(Array.from(attributes).filter(([name]) => !content.test(name)));
}

/** The roles and contents of messages that instrumentations flatten, one attribute a field: those of OpenLLMetry and of OpenInference. */
const flatInput = /^(?:gen_ai\.prompt|llm\.input_messages)\.(\d{1,4})\.(?:message\.)?(role|content)$/;
const flatOutput = /^(?:gen_ai\.completion|llm\.output_messages)\.(\d{1,4})\.(?:message\.)?(role|content)$/;

/** Returns flattened messages as a list in JSON, in the order of their numbers; empty where there are none. */
function flatMessages(attributes: Attributes, names: RegExp): string {
  const messages: Record<string, string>[] = [];
  for (const [name, { text, json }] of attributes) {
    const [, number = "", field = ""] = names.exec(name) ?? [];
    if (field !== "") (messages[Number(number)] ??= {})[field] = text ?? json;
  }
  // Places that have no message are left out.
  const list = messages.filter((message) => message !== undefined);
  return list.length === 0 ? "" : JSON.stringify(list);
}

/** Returns the input and output of the span, as its attributes or events report them; empty where they report none. */
export function previewsOf({ attributes, events }: OtlpSpan): { readonly input: string; readonly output: string } {
  const first = (names: readonly string[]): string => {
    for (const name of names) {
      const value = attributes.get(name);
      if (value !== undefined) return value.text ?? value.json;
    }
    return "";
  };
  const ofEvents = (isWanted: (name: string) => boolean): string =>
    events
      .filter(({ name }) => contentEvent.test(name) && isWanted(name))
      .flatMap((event) => Array.from(event.attributes.values(), ({ text, json }) => text ?? json))
      .join("\n");
  const isOutput = (name: string): boolean => name === "gen_ai.choice" || name.endsWith(".completion");
  return {
    input:
      first(["input.value", "gen_ai.input.messages", "gen_ai.prompt"]) ||
      flatMessages(attributes, flatInput) ||
      ofEvents((name) => !isOutput(name)),
    output:
      first(["output.value", "gen_ai.output.messages", "gen_ai.completion"]) ||
      flatMessages(attributes, flatOutput) ||
      ofEvents(isOutput),
  };
}

/** Something that may have been made shorter. */
type Cut<T> = { readonly value: T; readonly isCut: boolean };

/** Cuts a text to at most `bytesMax` bytes of UTF-8, between characters. */
export function cutText(text: string, bytesMax: number): Cut<string> {
  // A character of UTF-16 is at most three bytes.
  if (text.length * 3 <= bytesMax || Buffer.byteLength(text) <= bytesMax) return { value: text, isCut: false };
  const bytes = Buffer.from(text.slice(0, bytesMax));
  let end = Math.min(bytesMax, bytes.length);
  // A byte of the form 10xxxxxx continues the character before it.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return { value: bytes.toString("utf8", 0, end), isCut: true };
}

/** Writes attributes as a JSON object of at most `bytesMax` bytes; those that no longer fit are left out. */
export function cutObject(attributes: Attributes, bytesMax: number): Cut<Uint8Array> {
  const members = cutList(
    Array.from(attributes, ([key, { json }]) => `${JSON.stringify(key)}:${json}`),
    bytesMax,
  );
  return { ...members, value: Buffer.from(`{${members.value.join(",")}}`) };
}

/** Keeps the texts that fit into `bytesMax` bytes between two brackets and with commas; later ones may fit where an earlier one did not. */
export function cutList(texts: readonly string[], bytesMax: number): Cut<string[]> {
  let left = bytesMax - 1;
  const value = texts.filter((text) => {
    const bytes = Buffer.byteLength(text) + 1;
    if (bytes > left) return false;
    left -= bytes;
    return true;
  });
  return { value, isCut: value.length < texts.length };
}

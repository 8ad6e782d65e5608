import type { Attributes, OtlpSpan } from "@tidemark/otlp";

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
    input: first(["input.value", "gen_ai.input.messages", "gen_ai.prompt"]) || ofEvents((name) => !isOutput(name)),
    output: first(["output.value", "gen_ai.output.messages", "gen_ai.completion"]) || ofEvents(isOutput),
  };
}

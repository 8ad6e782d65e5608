import type { AnyValue, Attributes } from "@tidemark/otlp";

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

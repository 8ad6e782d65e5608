import { describe, expect, test } from "@jest/globals";
import { kindWords, messagesOf } from "./messages.ts";

const user = { role: "user", text: "Hi" };

describe("messages", () => {
  test.each<[string, unknown, readonly object[]]>([
    ["OpenAI", [{ role: "user", content: "Hi" }], [user]],
    [
      "an OpenAI request",
      { model: "m", messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }] },
      [user],
    ],
    [
      "an OpenAI answer",
      { choices: [{ message: { role: "assistant", content: "Yo" } }] },
      [{ role: "assistant", text: "Yo" }],
    ],
    [
      "a call of a tool",
      [{ role: "assistant", content: null, tool_calls: [{ function: { name: "find", arguments: '{"q":1}' } }] }],
      [{ role: "assistant", text: 'find({"q":1})' }],
    ],
    [
      "Anthropic",
      {
        role: "assistant",
        content: [
          { type: "text", text: "Hi" },
          { type: "tool_use", name: "f", input: { a: 1 } },
        ],
      },
      [{ role: "assistant", text: 'Hi\nf({"a":1})' }],
    ],
    ["OpenTelemetry", [{ role: "user", parts: [{ type: "text", content: "Hi" }] }], [user]],
    ["LangChain", { messages: [[{ id: ["langchain", "HumanMessage"], kwargs: { content: "Hi" } }]] }, [user]],
    ["Gemini", { contents: [{ role: "model", parts: [{ text: "Hi" }] }] }, [{ role: "assistant", text: "Hi" }]],
  ])("of %s are read", (_what, value, messages) => {
    expect(messagesOf(JSON.stringify(value))).toEqual(messages);
  });

  test("of a text that was cut are read as far as it goes", () => {
    const text = JSON.stringify([
      { role: "system", content: 'Say "x"' },
      { role: "user", content: "Hello there" },
    ]);
    expect(messagesOf(text.slice(0, -9))).toEqual([
      { role: "system", text: 'Say "x"' },
      { role: "user", text: "Hello" },
    ]);
    expect(messagesOf(text.slice(0, text.indexOf("user") - 5))).toEqual([{ role: "system", text: 'Say "x"' }]);
  });

  test.each(["Hi", "", "[1, 2]", '{"a": 1}', "{oops", "[".repeat(5000)])("%j has none", (text) =>
    expect(messagesOf(text)).toBeUndefined(),
  );
});

test("a span without a kind of its own has that of its instrumentation", () => {
  expect(kindWords({ kind: "env_step", attributes: {} })).toBe("env step");
  expect(kindWords({ kind: "custom", attributes: { "openinference.span.kind": "AGENT" } })).toBe("agent");
  expect(kindWords({ kind: "custom", attributes: { "gen_ai.operation.name": "invoke_agent" } })).toBe("agent");
  expect(kindWords({ kind: "custom", attributes: {} })).toBe("custom");
});

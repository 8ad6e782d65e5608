import { parseExact } from "../api/exact-json.ts";
import { isGroup, type ExactValue } from "../api/exact-value.ts";

/** One message of a conversation with a model: who says it, and what. */
export type Message = { readonly role: string; readonly text: string };

type Group = { readonly [key: string]: ExactValue };

/** Endings of a cut text that are tried before it counts as no JSON. */
const ENDINGS_MAX = 8;

/**
 * Reads the input or output of a span as messages, in the forms of OpenAI, Anthropic, LangChain and OpenTelemetry; a text that was cut is read
 * as far as it goes. Undefined for anything else: it is shown as it is.
 */
export function messagesOf(text: string): readonly Message[] | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  const value = readCut(text);
  const found = value === undefined ? [] : listOf(value).flatMap(messageOf);
  return found.length === 0 ? undefined : found;
}

/** The members of a document that hold messages, in the order in which they are looked for. */
const LISTS = ["messages", "choices", "generations", "output", "input", "contents"];

function listOf(value: ExactValue): readonly ExactValue[] {
  if (Array.isArray(value)) return value.flat() as readonly ExactValue[];
  if (!isGroup(value)) return [];
  if (isMessage(value)) return [value];
  const list = LISTS.map((name) => value[name]).find(
    (one) => Array.isArray(one) || (one !== undefined && isGroup(one)),
  );
  return list === undefined ? [] : listOf(list);
}

const isMessage = (value: Group): boolean =>
  ["role", "parts", "content", "message", "kwargs"].some((name) => Object.hasOwn(value, name));

function messageOf(value: ExactValue): Message[] {
  if (!isGroup(value)) return [];
  // A choice of OpenAI, a generation of LangChain, or a message that it serialized.
  const inner = value["message"] ?? value["kwargs"];
  if (inner !== undefined && isGroup(inner)) return messageOf({ ...inner, role: inner["role"] ?? roleOf(value) });
  const content = value["content"] ?? value["parts"] ?? value["text"];
  const parts = [contentText(content), ...callTexts(value["tool_calls"])].filter((part) => part !== "");
  if (content === undefined && parts.length === 0) return [];
  return [{ role: roleOf(value), text: parts.join("\n") }];
}

const ROLES: { readonly [word: string]: string } = { human: "user", ai: "assistant", model: "assistant" };

function roleOf({ role, type, id }: Group): string {
  // LangChain names the class of a message: HumanMessage.
  const named =
    Array.isArray(id) && typeof id.at(-1) === "string" ? (id.at(-1) as string).replace(/Message.*$/, "") : "";
  const word = [role, type, named].find((one): one is string => typeof one === "string" && one !== "");
  const lower = (word ?? "assistant").toLowerCase();
  return ROLES[lower] ?? lower;
}

/** Writes the content of a message: texts as they are, calls of tools and other parts by name. */
function contentText(content: ExactValue | undefined): string {
  if (content === undefined || content === null) return "";
  if (typeof content !== "object") return String(content);
  if (Array.isArray(content)) return content.map((part: ExactValue) => contentText(part)).join("\n");
  const part = content as Group;
  const name = part["name"] ?? part["id"] ?? "";
  const given = part["arguments"] ?? part["input"];
  if (given !== undefined) return `${contentText(name)}(${typeof given === "string" ? given : JSON.stringify(given)})`;
  const inner = part["text"] ?? part["content"] ?? part["response"] ?? part["result"];
  if (inner !== undefined) return contentText(inner);
  return typeof part["type"] === "string" ? `[${part["type"]}]` : JSON.stringify(part);
}

function callTexts(calls: ExactValue | undefined): string[] {
  if (!Array.isArray(calls)) return [];
  return calls.map((call: ExactValue) => {
    const called = isGroup(call) ? (call["function"] ?? call) : call;
    return isGroup(called) ? contentText({ ...called, arguments: called["arguments"] ?? called["args"] ?? "" }) : "";
  });
}

/** Parses JSON of which the end may be missing; undefined where too much of it is. */
function readCut(text: string): ExactValue | undefined {
  for (let end = text.length, i = 0; end > 0 && i < ENDINGS_MAX; i += 1) {
    try {
      return parseExact(text.slice(0, end) + closingOf(text.slice(0, end))) as ExactValue;
    } catch {
      // A name without its value is left out, with all behind the comma before it.
      end = text.lastIndexOf(",", end - 1);
    }
  }
  return undefined;
}

/** Returns what closes the texts, lists and objects that are open at the end of a text. */
function closingOf(text: string): string {
  const open: string[] = [];
  let isText = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]!;
    if (isText && char === "\\") at += 1;
    else if (char === '"') isText = !isText;
    else if (isText) continue;
    else if (char === "{" || char === "[") open.push(char === "{" ? "}" : "]");
    else if (char === "}" || char === "]") open.pop();
  }
  return `${isText ? '"' : ""}${open.toReversed().join("")}`;
}

/** Returns the kind of a span as its instrumentation names it: agents, chains and the like have none of their own. */
export function kindWords({
  kind,
  attributes,
}: {
  readonly kind: string;
  readonly attributes: Group | object;
}): string {
  if (kind !== "custom") return kind.replaceAll("_", " ");
  const named = attributes as Group;
  const word = [named["openinference.span.kind"], named["gen_ai.operation.name"], named["traceloop.span.kind"]].find(
    (one): one is string => typeof one === "string" && one !== "",
  );
  if (word === undefined) return kind;
  return word.toLowerCase() === "invoke_agent" ? "agent" : word.toLowerCase().replaceAll("_", " ");
}

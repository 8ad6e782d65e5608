import { ANGLES, CALLOUTS, isBlock, type Block } from "./blocks.ts";

/** The parts of a report that its Markdown has. */
export type WrittenReport = {
  readonly title: string;
  readonly description: string | undefined;
  readonly blocks: readonly unknown[];
};

/** Writes a report as Markdown (contract of reports, Markdown). Texts stay as they were written; nothing of it is HTML of ours. */
export function writeMarkdown({ title, description, blocks }: WrittenReport): string {
  const head = `# ${title}\n\n${description === undefined || description.trim() === "" ? "" : `${description}\n\n`}`;
  return (
    head +
    blocks
      .filter(isBlock)
      .map((block) => `${writeBlock(block)}\n\n`)
      .join("")
  );
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Puts a text into a quotation, line by line. */
const quote = (text: string): string =>
  text
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n");

function writeBlock(block: Block): string {
  switch (block.kind) {
    case "heading":
      return `${"#".repeat(Number(block["level"]))} ${textOf(block["text"])}`;
    case "code":
      return writeCode(textOf(block["code"]), textOf(block["language"]) || "plain");
    case "callout":
      return quote(`[${textOf(block["variant"]) || CALLOUTS[0]}] ${textOf(block["text"])}`);
    case "horizontal_rule":
      return "---";
    case "image":
      return `![${textOf(block["caption"])}](${textOf(block["url"])})`;
    case "panel_grid":
      return writeGrid(block);
    case "llm_summary":
      return `**Summary (${textOf(block["angle"]) || ANGLES[0]})**\n\n${textOf(block["generated_text"]) || "_Not generated yet._"}`;
    default:
      return textOf(block["text"]);
  }
}

/** A fence is longer than every one in the code. */
function writeCode(code: string, language: string): string {
  const longest = Math.max(2, ...[...code.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${code}\n${fence}`;
}

function writeGrid(block: Block): string {
  const runsets = Array.isArray(block["runsets"]) ? (block["runsets"] as readonly Record<string, unknown>[]) : [];
  const lines = runsets.map(({ name, projects }) => {
    const of = Array.isArray(projects) ? (projects as readonly unknown[]).map(textOf).join(", ") : "";
    return `- **${textOf(name)}**: ${of}`;
  });
  const caption = textOf(block["caption"]).trim();
  const captions = caption === "" ? [] : [caption];
  return quote(["Panels are interactive and not part of this text.", ...lines, ...captions].join("\n"));
}

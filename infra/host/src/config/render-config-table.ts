import { writeValue, type ConfigGroups } from "./define-config.ts";
import type { Field, FieldValue } from "./fields.ts";
import { fieldsByVariable } from "./parse-config.ts";

/**
 * Renders the settings of all groups as one Markdown table that ends in a line break: one row for each variable, in the
 * order of the groups, with the groups that read it. The default of a secret is never shown. The output depends only on
 * the groups, so a test can compare it with the committed page.
 */
export function renderConfigTable(groups: ConfigGroups): string {
  const rows = [...fieldsByVariable(groups).values()].map((field) => [
    `\`${field.env}\``,
    field.kind,
    renderDefault(field),
    field.bounds,
    readersOf(field.env, groups).join(", "),
    field.help,
  ]);
  const header = ["Variable", "Type", "Default", "Accepted", "Read by", "Meaning"];
  return [header, header.map(() => "---"), ...rows].map(renderRow).join("");
}

function renderRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll(/\s+/g, " ")).join(" | ")} |\n`;
}

function renderDefault(field: Field<FieldValue>): string {
  if (field.required) return "required";
  if (field.default === undefined) return "not set";
  if (field.kind === "secret") return "built in";
  const text = writeValue(field.default);
  return text === "" ? "empty" : `\`${text}\``;
}

function readersOf(env: string, groups: ConfigGroups): readonly string[] {
  return Object.entries(groups)
    .filter(([, group]) => Object.values(group).some((field) => field.env === env))
    .map(([name]) => name);
}

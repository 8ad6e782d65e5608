import type { Filter } from "./column.rules.ts";

/** Returns the value that a config, compact JSON, has at a path: of the key that is the whole path, else of nested keys; undefined: none. */
export function configValue(config: string, path: string): unknown {
  const at = (value: unknown, names: readonly string[]): unknown => {
    if (names.length === 0) return value;
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    for (let end = names.length; end > 0; end -= 1) {
      const key = names.slice(0, end).join(".");
      const found = Object.hasOwn(value, key)
        ? at((value as Record<string, unknown>)[key], names.slice(end))
        : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return at(JSON.parse(config), path.split("."));
}

/** Whether a value passes a filter: the rules, written as plainly as possible. */
export function compares(value: unknown, { comparison, operand }: Pick<Filter, "comparison" | "operand">): boolean {
  const shown = typeof value === "boolean" ? String(value) : value;
  // The values of tests are doubles.
  const wanted = typeof operand === "object" ? Number(operand.digits) : operand;
  if (typeof shown !== typeof wanted) return false;
  const order =
    typeof shown === "string"
      ? Buffer.compare(Buffer.from(shown), Buffer.from(wanted as string))
      : (shown as number) - (wanted as number);
  switch (comparison) {
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
    case "=":
      return order === 0;
    case "!=":
      return order !== 0;
  }
}

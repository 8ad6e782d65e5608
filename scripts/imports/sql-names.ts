import { parseSync, Visitor } from "oxc-parser";

/** A schema-qualified name in SQL, such as `runs.run_refs_v1`. */
export type SqlName = {
  readonly name: string;
  /** False where a template puts the rest of the name together: only its beginning is known. */
  readonly whole: boolean;
  /** 1-based. */
  readonly line: number;
};

/** Returns the names in a SQL file that belong to one of the schemas, in the order of the text. Comments are left out. */
export function namesInSql(text: string, schemas: readonly string[]): readonly SqlName[] {
  return namesIn(text, schemas).map(({ name, at }) => ({ name, whole: true, line: lineOf(text, at) }));
}

/**
 * Returns the names in the string and template literals of a TypeScript module, in the order of the text. Left out are the paths of
 * imports and the strings of a list that is called `reads`, which declares names and uses none.
 */
export function namesInModule(path: string, text: string, schemas: readonly string[]): readonly SqlName[] {
  if (!schemas.some((schema) => text.includes(`${schema}.`))) return [];
  const found: { raw: string; start: number; goesOn: boolean }[] = [];
  const declarations: { start: number; end: number }[] = [];
  const declare = (
    key: { type: string; name?: unknown },
    value: { type: string; start: number; end: number } | null,
  ) => {
    if (key.name === "reads" && value?.type === "ArrayExpression") declarations.push(value);
  };
  new Visitor({
    Property: ({ key, value }) => declare(key, value),
    VariableDeclarator: ({ id, init }) => declare(id, init),
    Literal: ({ value, start, end }) => {
      if (typeof value === "string") found.push({ raw: text.slice(start, end), start, goesOn: false });
    },
    TemplateElement: ({ value: { raw }, start, tail }) => {
      found.push({ raw, start: text.indexOf(raw, start), goesOn: !tail });
    },
  }).visit(parseSync(path, text).program);
  return found
    .filter(({ start }) => !declarations.some((list) => list.start <= start && start < list.end))
    .flatMap(({ raw, start, goesOn }) =>
      namesIn(goesOn ? raw : `${raw} `, schemas).map(({ name, at }) => ({
        name,
        whole: !goesOn || at + name.length < raw.length,
        at: start + at,
      })),
    )
    .toSorted((a, b) => a.at - b.at)
    .map(({ name, whole, at }) => ({ name, whole, line: lineOf(text, at) }));
}

/** Finds the names. A schema and a dot at the very end of the text are the beginning of a name. */
function namesIn(text: string, schemas: readonly string[]): readonly { name: string; at: number }[] {
  const code = text.replaceAll(/--[^\n]*/g, (comment) => " ".repeat(comment.length));
  const pattern = new RegExp(`(?<![\\w.$/-])(?:${schemas.join("|")})\\.(?:[a-z_][a-z_0-9]*|$)`, "g");
  return [...code.matchAll(pattern)].map(({ 0: name, index }) => ({ name, at: index }));
}

function lineOf(text: string, at: number): number {
  return text.slice(0, at).split("\n").length;
}

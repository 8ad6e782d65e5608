import { type Checker, type Type, TypeFlags } from "typescript/unstable/sync";
import type { RowMember } from "./judge-rows.ts";

/** Returns the members of the type of rows. Those of a union are the members of all of its types: a row has the columns of all. */
export function membersOf(checker: Checker, row: Type): readonly RowMember[] {
  const members = partsOf(row).flatMap((part) =>
    checker.getPropertiesOfType(part).map((property) => {
      const type = checker.getTypeOfSymbol(property);
      return { name: property.name, types: type === undefined ? [] : partsOf(type) };
    }),
  );
  return [...Map.groupBy(members, ({ name }) => name)].map(([name, same]) => {
    const types = same.flatMap((member) => member.types);
    const has = (flag: TypeFlags): boolean => types.some(({ flags }) => (flags & flag) !== 0);
    return {
      name,
      kinds: kindsOf(checker, types),
      isOptional: has(TypeFlags.Undefined),
      isNullable: has(TypeFlags.Null),
    };
  });
}

function partsOf(type: Type): readonly Type[] {
  return type.isUnionType() ? (type.getTypes() ?? []) : [type];
}

function kindsOf(checker: Checker, types: readonly Type[]): readonly string[] {
  const present = types.filter(({ flags }) => (flags & TypeFlags.Nullable) === 0);
  return [...new Set(present.map((type) => kindOf(checker, type)))].toSorted();
}

function kindOf(checker: Checker, type: Type): string {
  if ((type.flags & TypeFlags.StringLike) !== 0) return "string";
  if ((type.flags & TypeFlags.NumberLike) !== 0) return "number";
  if ((type.flags & TypeFlags.BooleanLike) !== 0) return "boolean";
  // Any list of PostgreSQL may have elements that are NULL; types say so where it matters.
  if (checker.isArrayType(type) && type.isTypeReference()) {
    return `${kindsOf(checker, checker.getTypeArguments(type).flatMap(partsOf)).join(" | ")}[]`;
  }
  const name = checker.typeToString(type);
  return /^(?:Buffer|Uint8Array)\b/.test(name) ? "bytes" : name;
}

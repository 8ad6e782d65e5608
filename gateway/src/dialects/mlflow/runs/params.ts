import { badRequest } from "@tidemark/errors";
import type { ExactObject } from "@tidemark/documents";
import { pairs, textOf } from "../documents.ts";

/**
 * Returns the value that a parameter has in the config. A text that is exactly how JSON writes a number is stored as this number, so that runs are
 * filtered and sorted by it; its text is read back the same.
 */
export function configValue(text: string): string | number {
  const number = Number(text);
  return JSON.stringify(number) === text ? number : text;
}

/** Returns parameters as members of a config. @throws bad_request for a key that is given twice */
export function paramsToConfig(
  params: readonly { readonly key: string; readonly value: string }[],
): Readonly<Record<string, string | number>> {
  const values = new Map<string, string | number>();
  for (const { key, value } of params) {
    if (values.has(key)) throw badRequest(`the parameter ${JSON.stringify(key)} is given twice`, "params");
    values.set(key, configValue(value));
  }
  return Object.fromEntries(values);
}

/** Returns a config as parameters. */
export function configToParams(config: ExactObject): { key: string; value: string }[] {
  return pairs(Object.entries(config).map(([key, value]) => [key, textOf(value)]));
}

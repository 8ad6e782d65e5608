import { notFound } from "@tidemark/errors";

const CANONICAL = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Tells whether a text is a UUID in its canonical form: lower case, with hyphens. */
export function isUuid(text: string): boolean {
  return CANONICAL.test(text);
}

/** Returns the id that a path names, in lower case. @throws not_found of `what` for a text that is not a UUID */
export function pathId(text: string, what: string): string {
  const id = text.toLowerCase();
  if (!isUuid(id)) throw notFound(what);
  return id;
}

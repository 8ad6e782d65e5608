/** Most tags of one request that are read. */
const TAGS_MAX = 100;
/** One member of the list: an entity tag or nothing (RFC 9110, Entity Tags and Lists). */
const MEMBER = /[ \t]*(?:(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*)?(?:,|$)/y;
const OURS = /^[\w-]+$/;

/**
 * Returns the tags that a client names in If-None-Match, without quotes and the prefix `W/`, because they are compared
 * weakly (RFC 9110, If-None-Match); `["*"]` for any. Our tags are URL-safe text; others are left out. A header that is
 * not a list of tags counts as absent.
 */
export function readIfNoneMatch(field: string | undefined): readonly string[] {
  if (field === undefined) return [];
  if (field.trim() === "*") return ["*"];
  const tags: string[] = [];
  MEMBER.lastIndex = 0;
  while (MEMBER.lastIndex < field.length) {
    const member = MEMBER.exec(field);
    if (member === null) return [];
    const tag = member[1];
    if (tag !== undefined && OURS.test(tag) && tags.length < TAGS_MAX) tags.push(tag);
  }
  return tags;
}

/** Returns the value of the ETag header for a tag of URL-safe text. It is weak because the answer may be compressed and numbers may be written in other ways. */
export function weakTag(tag: string): string {
  return `W/"${tag}"`;
}

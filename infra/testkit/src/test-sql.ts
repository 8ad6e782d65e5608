import { createHash } from "node:crypto";
import { sql, type Statement } from "@tidemark/pg";

/** Declares a statement of a test. Its name is made from its text, because test files share a process, where a name may have one text. */
export function testSql(text: string): Statement {
  return sql(`test_${createHash("sha256").update(text).digest("hex").slice(0, 24)}`, text);
}

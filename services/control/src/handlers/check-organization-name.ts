import { slugOf } from "../domain/slugs.ts";
import { slugTaken } from "../store/slug-taken.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";

/** Whether an organization may be made under a name: whether its short name is free. */
export function checkOrganizationName({ db }: ControlDeps): ControlHandlers["checkOrganizationName"] {
  return async ({ name }) => {
    const slug = slugOf(name);
    return { name, slug, available: !(await slugTaken(db, slug)) };
  };
}

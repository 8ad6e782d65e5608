import { expect, test } from "@jest/globals";
import { rounds } from "@tidemark/testkit";
import fc from "fast-check";
import { linearize, met } from "../histories/linearize.ts";
import { performOnView, versionOf, viewModel, type ViewEntry, type ViewOperation } from "../histories/view-model.ts";
import { type Browser, signIn } from "../stack/people.ts";
import { describeModes } from "../stack/modes.ts";

// Several pages of one user read, change, delete and replace one workspace view at the same time. All their answers
// must follow from some order of their operations.

const HISTORIES = 60;

type Named = "newest" | "first" | "alien";
/** An operation that is still to be done; which version it names depends on what was seen until then. */
type Plan = { readonly kind: ViewOperation["kind"]; readonly names: Named; readonly name: string };

const ALIEN = "2020-01-01T00:00:00.000000Z";
const plan: fc.Arbitrary<Plan> = fc.record({
  kind: fc.constantFrom("read", "put", "delete", "replace", "replace"),
  names: fc.constantFrom("newest", "newest", "newest", "first", "alien"),
  name: fc.constantFrom("a", "b", "c"),
});
const plans = fc.array(fc.array(plan, { minLength: 1, maxLength: 3 }), { minLength: 2, maxLength: 4 });

/** Lets every page do its planned operations one after another, and all pages simultaneously. */
async function play(
  browser: Browser,
  view: { readonly id: string; readonly version: string; readonly exported: unknown },
  planned: readonly (readonly Plan[])[],
): Promise<ViewEntry[]> {
  const history: ViewEntry[] = [];
  const seen = [view.version];
  let clock = 0;
  const versionNamed = (named: Named): string => (named === "alien" ? ALIEN : seen.at(named === "newest" ? -1 : 0)!);
  const page = async (todo: readonly Plan[]): Promise<void> => {
    for (const { kind, names, name } of todo) {
      const operation = { kind, name, knows: versionNamed(names) } as ViewOperation;
      const begun = (clock += 1);
      const answer = await performOnView(browser, view.id, view.exported, operation);
      history.push({ operation, answer, begun, ended: (clock += 1) });
      if (answer.kind === "view" && !seen.includes(answer.version)) seen.push(answer.version);
    }
  };
  await Promise.all(planned.map(page));
  return history;
}

describeModes("histories of a workspace view with several pages", (stack) => {
  test("are linear", async () => {
    const { browser } = await signIn(stack());
    let meetings = 0;
    const linear = fc.asyncProperty(plans, async (planned) => {
      const made = (await browser.post("/api/workspace-views", { name: "a" })).json.workspace_view;
      const exported = (await browser.get(`/api/workspace-views/${made.id}/export`)).json;
      const view = { id: made.id as string, version: versionOf(made), exported };
      const history = await play(browser, view, planned);
      if (met(history)) meetings += 1;
      if (linearize(history, viewModel({ name: "a", version: view.version })) === undefined) {
        const lines = history.toSorted((a, b) => a.begun - b.begun).map((entry) => JSON.stringify(entry));
        throw new Error(`no order explains this history:\n${lines.join("\n")}`);
      }
    });
    // A race does not recur, so smaller cases would not help.
    await fc.assert(linear, { numRuns: HISTORIES, endOnFailure: true });
    expect(meetings).toBeGreaterThan(rounds(HISTORIES) / 2);
  });
});

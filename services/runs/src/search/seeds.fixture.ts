import { move, type Step } from "../list/stored-runs.fixture.ts";
import { callAs, json, makeRun, type RunsFixture } from "../runs.fixture.ts";

// Six runs of one organization that searches find, and one run of another organization.

/** The call of the organization. */
export const call = callAs();
export const OTTER = "Calm Otter 3";
export const DONE = String.raw`100%_done\ok`;
export const KELVIN = "\u{212A}elvin \u{17F}";
export const DRAFT = 'tag: (draft" AND';
export const PLAIN = "plain";
export const LISTS = "lists";

type Seed = {
  name: string;
  id: string;
  project: string;
  tags?: string[];
  config?: string;
  metadata?: string;
  steps?: Step[];
};
const seeds: Seed[] = [
  {
    name: OTTER,
    id: "aaaa0001-0000-4000-8000-00000000000a",
    project: "Vision",
    tags: ["base line", "B", "É"],
    config: '{"seed":13,"lr":0.10,"opt":{"name":"Adam","betas":[0.9,0.999]}}',
    metadata:
      '{"notes":"First: \\"x\\"","note":"Nextly","description":"Desc","summary":"Summ","comment":"Last","other":"hidden","z":{"note":"Deep"}}',
    steps: [["running", "requested"]],
  },
  {
    name: DONE,
    id: "aaaa0002-0000-4000-8000-00000000000b",
    project: "p_1",
    tags: ["x", "tag with spaces", "b2", "x"],
    config: '{"path":"C:\\\\tmp\\n","rate":"5%"}',
    steps: [["finished", "none"]],
  },
  {
    name: KELVIN,
    id: "bbbb0003-0000-4000-8000-00000000000c",
    project: "Speech",
    tags: ["Ünïcode \u{1F600}"],
    steps: [["failed", "completed"]],
  },
  { name: DRAFT, id: "cccc0004-0000-4000-8000-00000000000d", project: "Speech", steps: [["finished", "completed"]] },
  { name: PLAIN, id: "dddd0005-0000-4000-8000-00000000000e", project: "default" },
  {
    name: LISTS,
    id: "dddd0006-0000-4000-8000-00000000000f",
    project: "default",
    config: '{"notes":"not these"}',
    metadata:
      '{"notes":7,"note":null,"description":["seven"],"summary":{"a":"eight"},"comment":true,"Notes":"capital"}',
    steps: [["failed", "terminal_without_completion"]],
  },
];
/** The names of all runs of the organization. */
export const ALL = seeds.map(({ name }) => name).toSorted();
/** The names of all runs but these. */
export const others = (...names: string[]): string[] => ALL.filter((name) => !names.includes(name));

/** Stores the runs. */
export async function storeSeeds(fixture: RunsFixture): Promise<void> {
  const stranger = callAs();
  await makeRun(fixture.client, stranger, { name: "otter", project: "Vision", tags: ["b", "x"] });
  for (const { name, id, project, tags = [], config = "{}", metadata = "{}", steps = [] } of seeds) {
    await makeRun(fixture.client, call, {
      id,
      name,
      project,
      tags,
      configJson: json(config),
      metadataJson: json(metadata),
    });
    await move(fixture, call.orgId, id, steps);
  }
}

/** A query and the names of the runs that it finds. */
export type Row = readonly [what: string, q: string, names: readonly string[]];

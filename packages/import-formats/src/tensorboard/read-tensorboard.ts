import { type FileTree, walkFolders, type WalkedFolder } from "../file-tree.ts";
import type { Item, RunItem } from "../items.ts";
import { createWarnings } from "../warnings.ts";
import { readEvent, tfRecords } from "./event-file.ts";
import { createRunReader } from "./run-reader.ts";

/** Whether a file is one that TensorBoard reads. */
export function isEventFile(name: string): boolean {
  return name.includes("tfevents") && !name.endsWith(".profile-empty");
}

/** The name of the first event file has the time, the machine and the process of its writer, so a folder may move and two that are called alike differ. */
export async function identifyEvents({ run }: RunItem, tree: FileTree, path: string): Promise<string> {
  const files = await tree.list(run === "." ? "" : run);
  const first = files
    .filter(({ name, isFolder }) => !isFolder && name.includes("tfevents"))
    .map(({ name }) => name)
    .toSorted()[0];
  return `${path.split(/[\\/]/).at(-1)}/${first ?? ""}`;
}

/**
 * Reads the runs of a folder of TensorBoard. Each folder with event files is a run, whose id is the path of the folder (`.`: the root, as TensorBoard names
 * it); its files are read in the order of their names. Every file is read twice, because a restart takes back points that precede it.
 */
export async function* readTensorboard(tree: FileTree): AsyncGenerator<Item> {
  const warnings = createWarnings();
  for await (const { path, files } of walkFolders(tree, warnings)) {
    const eventFiles = files.filter(({ name }) => isEventFile(name));
    if (eventFiles.length > 0) yield* readRun(tree, path === "" ? "." : path, eventFiles);
  }
  yield* warnings.take();
}

async function* readRun(tree: FileTree, run: string, files: WalkedFolder["files"]): AsyncGenerator<Item> {
  const warnings = createWarnings(run);
  const purges = await findPurges(tree, files);
  const reader = createRunReader(run, warnings);
  yield reader.begin();
  for (const [file, { path, name }] of files.entries()) {
    let record = -1;
    for await (const bytes of tfRecords(tree.read(path), warnings, name)) {
      record += 1;
      if (bytes === undefined) continue;
      const event = readEvent(bytes);
      if (event.damaged) warnings.add("damaged", name);
      if (purges.purges({ file, record }, event.step)) warnings.add("purged", undefined, event.values.length);
      else yield* reader.read(event);
    }
  }
  yield* reader.end();
  yield* warnings.take();
}

/**
 * Finds the restarts of a run: all starts of its writers. The first one in the first file is the beginning of the run: TensorFlow 1 wrote it from a thread
 * of its own, so events may precede it. The first one in a later file is from a writer with a `purge_step` (tensorboardX, PyTorch), and
 * takes back events of earlier writers, which name no start.
 */
async function findPurges(tree: FileTree, files: WalkedFolder["files"]): Promise<Purges> {
  const purges = createPurges();
  const uncounted = createWarnings();
  let isBegun = false;
  for (const [file, { path, name }] of files.entries()) {
    let record = -1;
    for await (const bytes of tfRecords(tree.read(path), uncounted, name)) {
      record += 1;
      const event = bytes === undefined ? undefined : readEvent(bytes);
      if (event?.starts !== true) continue;
      if (isBegun) purges.add({ file, record }, event.step);
      isBegun = true;
    }
    isBegun = true;
  }
  return purges;
}

/** The position of an event in its run: the number of its file, then of its record. */
type EventPlace = { readonly file: number; readonly record: number };

/** The events that restarts of a run take back: all earlier ones from the step of the restart on. */
type Purges = {
  /** Adds a restart; restarts are added in their order. */
  add(place: EventPlace, step: number): void;
  /** Returns whether a later restart takes back an event. */
  purges(place: EventPlace, step: number): boolean;
};

/** Collects restarts. A restart that a later one at the same or a lower step covers is not kept. */
function createPurges(): Purges {
  const kept: (EventPlace & { readonly step: number })[] = [];
  let next = 0;
  return {
    add(place, step) {
      while (kept.length > 0 && kept.at(-1)!.step >= step) kept.pop();
      kept.push({ ...place, step });
    },
    // Asked in the order of events. Steps of kept restarts rise, so the next one takes back most.
    purges({ file, record }, step) {
      while (next < kept.length && !isAfter(kept[next]!, file, record)) next += 1;
      return next < kept.length && step >= kept[next]!.step;
    },
  };
}

function isAfter(place: EventPlace, file: number, record: number): boolean {
  return place.file > file || (place.file === file && place.record > record);
}

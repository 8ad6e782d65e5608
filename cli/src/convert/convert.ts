import { encodeLine, noCounts, type LineOf } from "@tidemark/archive";
import type { FileItem, Item, ObjectItem, RunItem } from "@tidemark/import-formats";
import type { Source } from "../source/source.ts";
import type { Warnings } from "../terminal/warnings.ts";
import { artifactLine, contentOfFile, sha256Of, type ArtifactFacts, type Content } from "./artifact-lines.ts";
import { attributeLine, objectLines } from "./object-lines.ts";
import { consoleLines, pointLines, storablePoints } from "./point-lines.ts";
import { artifactId, headLines, mergeItem, runIdentity, startOf, type RunHead } from "./run-heads.ts";
import type { SealedArchive, Spool } from "./spool.ts";
import { instantOf, microsOf, storable } from "./texts.ts";

/** How a source is made into an archive. */
export type Conversion = {
  readonly source: Source;
  /** The project of all runs; absent: the project of the source. */
  readonly project: string | undefined;
  readonly spool: Spool;
  /** Whether files are read; otherwise their content stays unknown, and there is no archive. */
  readonly readFiles: boolean;
  /** Whether the server has the run already. */
  readonly isThere: (runId: string) => Promise<boolean>;
  readonly warnings: Warnings;
  /** Hears how many points there are so far. */
  readonly onPoints: (points: number) => void;
};

/** An archive of new runs. */
export type Converted = {
  readonly archive: SealedArchive;
  readonly counts: LineOf<"end">["counts"];
  readonly projects: readonly string[];
  /** Runs that the server has already. */
  readonly runsThere: number;
  /** The bytes that the archive names. */
  readonly contents: readonly Content[];
};

type OpenRun = RunHead & {
  readonly first: RunItem;
  readonly created: number;
  lines: Record<string, number>;
  artifacts: number;
};

/**
 * Makes the archive of the runs of a source that the server does not have. The same source gives the same archive, byte for byte, so that an interrupted
 * import can continue. Memory is bounded by the heads of the runs.
 */
export async function convert(conversion: Conversion): Promise<Converted> {
  const { source, spool, warnings } = conversion;
  const runs = new Map<string, OpenRun | "there">();
  const contents = new Map<string, Content>();
  const counts = noCounts();
  for await (const item of source.items()) {
    if (item.kind === "warning") {
      const where = [item.run, item.detail].filter((part) => part !== undefined).join(": ");
      warnings.add(readingWords[item.code], where === "" ? undefined : where, item.count);
      continue;
    }
    let run = runs.get(item.run);
    if (run === undefined && item.kind === "run") runs.set(item.run, (run = await openRun(conversion, item)));
    else if (run !== undefined && run !== "there" && item.kind === "run") run.item = mergeItem(run.item, item);
    if (run !== undefined && run !== "there") await addItem(conversion, { run, counts, contents }, item);
  }
  const heads = [...runs.values()].filter((run) => run !== "there");
  const projects = [...new Set(heads.map(({ project }) => project))];
  Object.assign(counts, { project: projects.length, run: heads.length });
  const head = headLines(heads, source.modifiedAt, warnings);
  const archive = await spool.seal(head, encodeLine({ line: "end", counts }));
  return { archive, counts, projects, runsThere: runs.size - heads.length, contents: [...contents.values()] };
}

/** What the readers say they left out. */
const readingWords = {
  damaged: "damaged parts of files",
  torn_tail: "files that end within a record",
  too_large: "parts that are too large",
  unsafe_path: "paths that lead out of their folder",
  unsupported: "parts of a kind that has no place here",
  malformed_value: "values of a wrong type",
  missing: "files that are not there",
  deleted_run: "runs that were deleted in the source",
  purged: "points that a restart took back",
  rounded_integer: "integers that became the nearest double",
} as const;

async function openRun({ source, project, isThere, warnings }: Conversion, item: RunItem): Promise<OpenRun | "there"> {
  const identity = await runIdentity(source, project, item, warnings);
  if (await isThere(identity.id)) return "there";
  const created = startOf(item, source.modifiedAt);
  return { ...identity, item, first: item, created, lines: {}, artifacts: 0 };
}

type Target = {
  readonly run: OpenRun;
  readonly counts: ReturnType<typeof noCounts>;
  readonly contents: Map<string, Content>;
};

async function addItem(
  conversion: Conversion,
  target: Target,
  item: Exclude<Item, { kind: "warning" }>,
): Promise<void> {
  const { spool, warnings, onPoints } = conversion;
  const { run, counts } = target;
  switch (item.kind) {
    case "run":
      return;
    case "points": {
      const points = storablePoints(item, warnings);
      if (points === undefined) return;
      counts.points += points.steps.length;
      onPoints(counts.points);
      return spool.append("points", pointLines(run.id, points, run.created));
    }
    case "lines": {
      const first = (run.lines[item.stream] ?? 0) + 1;
      run.lines[item.stream] = first + item.lines.length - 1;
      counts.lines += item.lines.length;
      return spool.append("lines", consoleLines(run.id, item, first, run.created, warnings));
    }
    case "attribute": {
      const place = { runId: run.id, id: counts.attribute + 1, created: run.created, warnings };
      const line = attributeLine(item, place);
      if (line === undefined) return;
      counts.attribute += 1;
      return spool.append("attributes", line);
    }
    case "object":
      return addObject(conversion, target, item);
    default:
      return addFile(conversion, target, item);
  }
}

async function addObject(conversion: Conversion, target: Target, item: ObjectItem): Promise<void> {
  const { run, counts } = target;
  let medium: string | undefined;
  if ("file" in item) {
    const { file } = item;
    const content = "bytes" in file ? await keep(conversion, file.bytes) : await contentAt(conversion, run, file.path);
    if (content === undefined) return;
    medium = await addArtifact(conversion, target, {
      name: "path" in file ? file.path.split("/").at(-1)! : item.key,
      type: "",
      step: item.step,
      mimeType: file.mimeType,
      metadata: {},
      time: item.time,
      content,
    });
  }
  const place = { runId: run.id, id: counts.object + 1, created: run.created, warnings: conversion.warnings };
  const lines = objectLines(item, place, medium);
  if (lines === undefined) return;
  counts.object += 1;
  await conversion.spool.append("objects", lines);
}

async function addFile(conversion: Conversion, target: Target, item: FileItem): Promise<void> {
  const { name, type = "", artifact, digest, size, path, uri } = item;
  // Without either the reader has counted it as missing.
  if (path === undefined && uri === undefined) return;
  const content =
    path === undefined ? { uri: storable(uri!).slice(0, 512), size } : await contentAt(conversion, target.run, path);
  if (content === undefined) return;
  const metadata = { ...(artifact === undefined ? {} : { artifact }), ...(digest === undefined ? {} : { digest }) };
  await addArtifact(conversion, target, {
    name,
    type,
    step: undefined,
    mimeType: undefined,
    metadata,
    time: undefined,
    content,
  });
}

type NewArtifact = Omit<ArtifactFacts, "id" | "runId" | "createdAt"> & { readonly time: number | undefined };

async function addArtifact(
  { spool }: Conversion,
  { run, counts, contents }: Target,
  wanted: NewArtifact,
): Promise<string> {
  const { time, ...facts } = wanted;
  if ("sha256" in facts.content) contents.set(facts.content.sha256, facts.content);
  run.artifacts += 1;
  counts.artifact += 1;
  const id = artifactId(run.id, run.artifacts);
  const createdAt = instantOf(microsOf(time) || run.created);
  await spool.append("artifacts", artifactLine({ ...facts, id, runId: run.id, createdAt }));
  return id;
}

async function contentAt(
  { source, warnings, readFiles }: Conversion,
  run: OpenRun,
  path: string,
): Promise<Content | undefined> {
  const found = await source.find(path, run.first);
  if (found !== undefined) return contentOfFile(found, readFiles);
  warnings.add(readingWords.missing, `${run.item.run}: ${path}`);
  return undefined;
}

async function keep({ spool }: Conversion, bytes: Uint8Array): Promise<Content> {
  const sha256 = sha256Of(bytes);
  return { sha256, size: bytes.length, path: await spool.keep(sha256, bytes) };
}

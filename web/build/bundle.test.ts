import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { bundle } from "./bundle.ts";

/** Bytes that the first view of a page may load, compressed: scripts and style. */
const FIRST_VIEW_BYTES_MAX = 110_000;
/** Bytes of what every page loads, compressed. */
const BASE_BYTES_MAX = 40_000;
/** Bytes of the page of embedded views, compressed: it stands in pages of others, several times perhaps. */
const EMBED_BYTES_MAX = 20_000;

describe("the bundle", () => {
  let built: Awaited<ReturnType<typeof bundle>>;
  beforeAll(async () => {
    built = await bundle();
  });
  const bytesOf = (names: readonly string[]): number =>
    built.index.files.filter(({ name }) => names.includes(name)).reduce((sum, { gzipBytes }) => sum + gzipBytes, 0);

  test("has a first view within its budget, for every page", () => {
    const { index } = built;
    const base = [index.entry, index.theme, index.style];
    for (const [page, parts] of Object.entries(index.parts)) {
      expect([page, bytesOf([...base, index.pageStyle, ...parts]) <= FIRST_VIEW_BYTES_MAX]).toEqual([page, true]);
    }
    expect(index.signInPages).toEqual(["signin", "device", "invite"]);
    expect(bytesOf([...base, ...index.parts["signin"]!])).toBeLessThanOrEqual(BASE_BYTES_MAX);
  });

  test("has a small page of embedded views, which has no styles of the dashboard", () => {
    const { script, style } = built.index.embed;
    expect(gzipSync(script + style).length).toBeLessThanOrEqual(EMBED_BYTES_MAX);
    expect(style).not.toContain("@layer");
  });

  test("names each file by its contents, with a type", () => {
    for (const { name, type } of built.index.files) {
      expect(name).toMatch(/^[a-z-]+\.[0-9A-Z]{8}\.(js|css|svg)$/);
      expect(type).toMatch(/^(text\/javascript|text\/css|image\/svg\+xml)/);
    }
  });

  test("holds the styles of all parts once, the order of their layers first", () => {
    const textOf = (named: string): string =>
      Buffer.from(built.files.find(({ name }) => name === named)!.content).toString();
    const [style, pageStyle] = [textOf(built.index.style), textOf(built.index.pageStyle)];
    const lateStyle = textOf(built.index.lateStyle);
    expect(style).toMatch(/^@layer tokens,\s*base,\s*parts,\s*pages;/);
    expect(style).toContain(".tm-dialog");
    expect(pageStyle).toContain(".tm-chart-card");
    expect(pageStyle).not.toContain(".tm-dialog{");
    expect(style).not.toContain(".tm-chart-card");
    expect(built.index.latePages).toEqual(["media", "traces", "artifacts"]);
    expect(lateStyle).toContain(".tm-artifacts");
    expect(style + pageStyle).not.toContain(".tm-artifacts");
  });

  test("is the same of the same sources", async () => {
    const names = (index: typeof built.index): readonly string[] => index.files.map(({ name }) => name).toSorted();
    expect(names((await bundle()).index)).toEqual(names(built.index));
  });
});

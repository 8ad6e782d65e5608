import { gzipSync } from "node:zlib";
import type { Asset, Bundle } from "./read-bundle.ts";

const asset = (name: string, type: string, text: string): [string, Asset] => {
  const plain = Buffer.from(text);
  return [name, { name, type, plain, compressed: gzipSync(plain) }];
};

/** The text of the module that starts the dashboard of tests. */
export const ENTRY_TEXT = `console.log("${"x".repeat(2000)}")`;

/** A small dashboard. */
export const testBundle: Bundle = {
  entry: "main.AAAA.js",
  theme: "theme-first.BBBB.js",
  style: "main.CCCC.css",
  pageStyle: "pages.FFFF.css",
  signInPages: ["signin"],
  lateStyle: "late.GGGG.css",
  latePages: ["artifacts"],
  icon: "icon.DDDD.svg",
  embed: { script: "3", style: "b{}" },
  parts: { projects: ["part.EEEE.js"], signin: [], project: ["part.EEEE.js"], artifacts: [], settings: [] },
  assets: new Map([
    asset("main.AAAA.js", "text/javascript; charset=utf-8", ENTRY_TEXT),
    asset("theme-first.BBBB.js", "text/javascript; charset=utf-8", "1"),
    asset("main.CCCC.css", "text/css; charset=utf-8", "a{}"),
    asset("pages.FFFF.css", "text/css; charset=utf-8", "b{}"),
    asset("late.GGGG.css", "text/css; charset=utf-8", "c{}"),
    asset("icon.DDDD.svg", "image/svg+xml", "<svg/>"),
    asset("part.EEEE.js", "text/javascript; charset=utf-8", "2"),
  ]),
};

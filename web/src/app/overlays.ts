import "../pages/shared-chunk.ts";
// What lies over pages and is rarely needed: one part of the bundle.
export { KeysHelp } from "./keys-help.tsx";
export { Palette } from "./palette.tsx";

export { chartRun } from "./chart-run.ts";
export { ChartSection } from "./chart-section.tsx";
export { LookPicker } from "./look/look-picker.tsx";
export { RunSwatch } from "./look/look-picker.tsx";
export type { ChartRun } from "./section/types.ts";

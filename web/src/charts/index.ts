export { chartRun } from "./section/chart-context.ts";
export { ChartSection } from "./chart-section.tsx";
export { useVisibleLines } from "./look/run-look.ts";
export { SystemCharts } from "./system-charts.tsx";
export { LookPicker } from "./look/look-picker.tsx";
export { RunSwatch } from "./look/look-picker.tsx";
export type { ChartRun, GivenSeries } from "./section/chart-context.ts";

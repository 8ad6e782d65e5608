export { ChartSection, type ChartSectionProps } from "./chart-section.tsx";
export { LineChart, type ChartHandle, type LineChartProps } from "./line-chart.tsx";
export { chooseLook, loadLooks, runInk, runLook, type RunLook } from "./look/run-look.ts";
export { RunSwatch, Swatch } from "./look/run-swatch.tsx";
export type { Axes, Line } from "./scene/line-model.ts";
export type { ChartRun } from "./section/types.ts";
export { createLink, type ChartLink } from "./view/hover.ts";

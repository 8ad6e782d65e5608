// One part of the bundle.
import "./shared-chunk.ts";
export { ReportPage, SharedReportPage } from "./reports/report-page.tsx";
export { ReportsPage } from "./reports/reports-page.tsx";

export { reportsModule } from "./module.ts";

export { tracesModule } from "./module.ts";

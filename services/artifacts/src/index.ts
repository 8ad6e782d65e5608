export { artifactsModule } from "./module.ts";

import { runProcess } from "@tidemark/host";
import { controlModule } from "./module.ts";

await runProcess({ name: "control", modules: [controlModule], alsoKnown: [] });

import "./style.css";
import { render } from "preact";
import { EmbedPage } from "./embed-page.tsx";

render(<EmbedPage />, document.querySelector("#app")!);

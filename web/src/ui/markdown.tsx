import { useEffect, useState } from "preact/hooks";
import type { SafeHtml } from "./markdown-html.ts";
import { Skeleton } from "./spinner.tsx";
import "./markdown.css";

/** The safe parts of a user's Markdown. Its libraries are loaded with the first one. */
export function Markdown({ text }: { readonly text: string }) {
  const [html, setHtml] = useState<SafeHtml>();
  useEffect(() => {
    let isLeft = false;
    const render = async (): Promise<void> => {
      const { safeHtml } = await import("./markdown-html.ts");
      const next = await safeHtml(text);
      if (!isLeft) setHtml(next);
    };
    void render();
    return () => {
      isLeft = true;
    };
  }, [text]);
  if (html === undefined) return <Skeleton lines={3} />;
  // The only place of the dashboard where markup is set; the policy of the page takes it from the sanitizer alone.
  return <div class="tm-markdown" dangerouslySetInnerHTML={html} />;
}

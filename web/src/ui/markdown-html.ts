import createSanitizer from "dompurify";
import { Marked, type MarkedExtension } from "marked";
import { addressOf } from "../api/base-path.ts";
import { mayHaveMath } from "./math-tokens.ts";

const TAGS =
  "p br hr h1 h2 h3 h4 h5 h6 blockquote pre code kbd ul ol li strong em del sub sup a img table thead tbody tr th td details summary".split(
    " ",
  );
const ATTRIBUTES = ["href", "title", "alt", "src", "start", "colspan", "rowspan", "align", "open"];

/** MathML, which formulas become; without links, styles and what holds HTML. */
const MATH_TAGS =
  "math mrow mi mn mo ms mtext mspace mfrac msqrt mroot mstyle mpadded mphantom menclose msub msup msubsup munder mover munderover mmultiscripts mprescripts mtable mtr mtd".split(
    " ",
  );
const MATH_ATTRIBUTES =
  "display mathvariant mathcolor mathbackground mathsize fence separator stretchy symmetric largeop movablelimits accent accentunder lspace rspace minsize maxsize width height depth voffset linethickness notation scriptlevel displaystyle columnalign columnspacing columnlines rowspacing rowlines columnspan".split(
    " ",
  );

createSanitizer.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A") {
    const address = node.getAttribute("href");
    if (address !== null) node.setAttribute("href", addressOf(address));
    node.setAttribute("rel", "noopener noreferrer nofollow");
    node.setAttribute("target", "_blank");
  }
  if (node.tagName === "IMG") {
    const source = node.getAttribute("src");
    if (source === null || !isOwn(source)) showAsText(node);
    else {
      node.setAttribute("src", addressOf(source));
      if (!node.hasAttribute("alt")) node.setAttribute("alt", "");
    }
  }
});

/** Whether an image is from this server: other servers would learn who reads. */
function isOwn(address: string): boolean {
  const url = URL.parse(address, location.href);
  return (
    url !== null && (url.origin === location.origin || (url.protocol === "data:" && address.startsWith("data:image/")))
  );
}

function showAsText(image: Element): void {
  const text = image.getAttribute("alt") ?? "";
  image.removeAttribute("src");
  image.replaceWith(text === "" ? "[image of another site]" : `[image: ${text}]`);
}

/** Tags that people write into Markdown because it has no other way, without attributes. */
const PLAIN_TAGS = /&lt;(\/?(?:br|hr|kbd|sub|sup|details|summary)) ?\/?&gt;/gi;

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Markup in the text is shown as written, so that the sanitizer never encounters a handler, which browsers report even where it cannot run. */
const rules: MarkedExtension = {
  renderer: {
    html: ({ text }) => text.replaceAll(/[&<>"]/g, (char) => escapes[char]!).replaceAll(PLAIN_TAGS, "<$1>"),
  },
};

const plainReader = new Marked(rules);

/** HTML that the sanitizer has let through, as Preact takes it. */
export type SafeHtml = { readonly __html: string };

/**
 * Returns the HTML of a Markdown text with nothing in it that runs, loads from elsewhere or looks like a part of the page. The library for formulas is
 * loaded with the first text that may have some.
 */
export async function safeHtml(text: string): Promise<SafeHtml> {
  const reader = mayHaveMath(text) ? (await import("./markdown-math.ts")).mathReader(rules) : plainReader;
  const html = reader.parse(text, { async: false, gfm: true });
  const safe: unknown = createSanitizer.sanitize(html, {
    ALLOWED_TAGS: [...TAGS, ...MATH_TAGS],
    ALLOWED_ATTR: [...ATTRIBUTES, ...MATH_ATTRIBUTES],
    // None of these is an address.
    ADD_URI_SAFE_ATTR: ["start", "colspan", "rowspan", "align", "open", ...MATH_ATTRIBUTES],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|data:image\/(?:png|jpeg|gif|webp);|\/|#)/i,
    RETURN_TRUSTED_TYPE: true,
  });
  // Browsers with trusted types get one of these, which takes the place of the text.
  return { __html: safe as string };
}

import { webAddress } from "../../app/addresses.ts";

/** An image of this server. Others would learn who reads the report, so that they are only linked to. */
export function ReportImage({ url, caption }: { readonly url: string; readonly caption?: string | undefined }) {
  const parsed = URL.parse(url, location.href);
  const isOwn = parsed !== null && parsed.origin === location.origin && ["http:", "https:"].includes(parsed.protocol);
  const address = webAddress(url);
  return (
    <figure class="tm-block-image">
      {isOwn ? (
        <img src={`${parsed.pathname}${parsed.search}`} alt={caption ?? "Image of the report"} loading="lazy" />
      ) : address === undefined ? (
        <p class="tm-muted">The address of this image cannot be shown.</p>
      ) : (
        <a href={address} target="_blank" rel="noopener noreferrer">
          Show the image at {new URL(address).hostname}
        </a>
      )}
      {caption !== undefined && caption !== "" && <figcaption class="tm-muted">{caption}</figcaption>}
    </figure>
  );
}

/** Decides which cards read and draw. */
export type Mounts = { readonly watch: (element: Element, tell: (inView: boolean) => void) => () => void };

/** Cards that are slightly out of view are ready when they scroll in. */
const NEAR = "240px 0px";

/** Creates mounts that choose cards in or near view, at most `most` of them, the first to enter. */
export function createMounts(most: number): Mounts {
  const cards = new Map<Element, { readonly tell: (inView: boolean) => void; told: boolean }>();
  const near = new Set<Element>();
  const decide = (): void => {
    const chosen = new Set([...near].slice(0, most));
    for (const [element, card] of cards) {
      const next = chosen.has(element);
      if (card.told === next) continue;
      card.told = next;
      card.tell(next);
    }
  };
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) near.add(target);
        else near.delete(target);
      }
      decide();
    },
    { rootMargin: NEAR },
  );
  return {
    watch: (element, tell) => {
      cards.set(element, { tell, told: false });
      observer.observe(element);
      return () => {
        observer.unobserve(element);
        cards.delete(element);
        near.delete(element);
        decide();
      };
    },
  };
}

// A poster is fetched when its film comes near: `loading="lazy"` is for pictures alone.
const near = new IntersectionObserver(
  (seen) => {
    for (const { target } of seen.filter((each) => each.isIntersecting)) {
      target.poster = target.dataset.poster;
      near.unobserve(target);
    }
  },
  { rootMargin: "600px" },
);
for (const film of document.querySelectorAll("video[data-poster]")) near.observe(film);

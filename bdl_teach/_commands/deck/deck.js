// Typeset, lay what is too tall on several slides, start. All of it before anything is shown.
(async () => {
  const WIDTH = 1344, HEIGHT = 756;
  const ROOM = HEIGHT - 36; // below it stand the arrows and the number
  const LEGIBLE = 0.7; // of the letters' size, for what belongs together
  const PARTS = [
    ".jp-RenderedMarkdown > *", ".jp-RenderedMarkdown li", ".jp-RenderedMarkdown tbody tr",
    ".jp-Cell-inputWrapper", ".jp-OutputArea-child",
  ].join();
  const slides = document.querySelector(".reveal .slides");

  // The smallest parts that a slide can be cut between.
  const parts = (slide) => {
    const all = [...slide.querySelectorAll(PARTS)].filter((part) => !part.closest("aside"));
    const held = new Set(all.flatMap((part) => {
      const holders = [];
      for (let up = part.parentElement; up !== slide; up = up.parentElement) holders.push(up);
      return holders;
    }));
    return all.filter((part) => !held.has(part) && part.offsetHeight > 0);
  };

  // A heading, and a sentence that ends with a colon, stay with what follows them.
  const leads = (part) => /^H\d$/.test(part.tagName) || /:\s*$/.test(part.textContent);

  // What a cell prints stays with the cell, and a picture may stand alone.
  const trails = (part) => part.matches(".jp-OutputArea-child") && !part.querySelector("img");

  const narrow = (part) => {
    const scale = WIDTH / part.scrollWidth;
    if (scale < 1) part.style.zoom = scale;
  };

  // Move what stands from `part` on to a slide of its own, which follows.
  const cut = (slide, part) => {
    const table = part.closest("table"), list = part.closest("ol");
    const count = list ? [...list.children].indexOf(part) : 0;
    const range = document.createRange();
    range.setStartBefore(part);
    range.setEndAfter(slide.lastChild);
    const next = slide.cloneNode(false);
    next.append(range.extractContents());
    if (table) next.querySelector("table").prepend(table.tHead.cloneNode(true));
    if (list && count > 0) next.querySelector("ol").start = (list.start || 1) + count;
    for (let one = next.firstElementChild; one; one = one.firstElementChild)
      one.classList.remove("fragment"); // a new slide never starts empty
    next.append(...[...slide.querySelectorAll("aside.notes")].map((note) => note.cloneNode(true)));
    slide.after(next);
    return next;
  };

  const lay = (slide) => {
    const all = parts(slide);
    const top = slide.getBoundingClientRect().top;
    const bottom = (part) => part.getBoundingClientRect().bottom - top;
    all.forEach(narrow);
    const first = all.findIndex((part) => bottom(part) > ROOM);
    if (first < 0) return;
    const scale = ROOM / bottom(all[first]);
    let start = first;
    while (start > 0 && (trails(all[start]) || leads(all[start - 1]))) start -= 1;
    if (first === 0 || (start === 0 && scale >= LEGIBLE)) {
      if (first + 1 < all.length) lay(cut(slide, all[first + 1]));
      slide.style.zoom = scale;
    } else lay(cut(slide, all[start || first]));
  };

  // A picture that leaves room on its slide takes it.
  const grow = (slide) => {
    const image = slide.querySelectorAll("img").length === 1 && slide.querySelector("img");
    if (!image) return;
    const spare = ROOM - slide.offsetHeight;
    const scale = Math.min(1.6, WIDTH / image.width, (image.height + spare) / image.height);
    if (scale > 1) image.style.cssText = `width: ${image.width * scale}px; max-height: none;`;
  };

  await MathJax.startup.promise;
  await MathJax.typesetPromise([slides]);
  await Promise.all([...document.images].map((image) => image.decode().catch(() => {})));
  slides.style.width = `${WIDTH}px`;
  slides.classList.add("measured");
  slides.querySelectorAll("section:not(:has(section))").forEach(lay);
  slides.querySelectorAll("section:not(:has(section))").forEach(grow);
  slides.classList.remove("measured");
  await Reveal.initialize({
    width: WIDTH, height: HEIGHT, margin: 0.02, center: false, hash: true,
    transition: "none", slideNumber: "c/t", plugins: [RevealNotes],
  });
})();

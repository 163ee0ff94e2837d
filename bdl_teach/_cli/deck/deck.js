// Typeset, lay what is too tall on several slides, start. All of it before anything is shown.
(async () => {
  const WIDTH = 1344, HEIGHT = 756, MARGIN = 48; // as in deck.css
  const ROOM = HEIGHT - 36; // below it stand the arrows and the number
  const SHORT = HEIGHT / 3, TOP = 28; // the padding above a slide
  const LEGIBLE = 0.7; // of the letters' size, for what belongs together
  const SMALL = 0.55; // of a picture's size, for the same
  const DENSE = 0.8; // of the letters' size, for a short slide and the next
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
    const scale = (WIDTH - 2 * MARGIN) / part.scrollWidth;
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

  // Make a picture smaller by so many pixels, to stay with the words about it; false if too small.
  const shrink = (part, over) => {
    const image = part.querySelector("img");
    if (!image?.offsetHeight || image.height - over < SMALL * image.height) return false;
    image.style.maxHeight = `${Math.floor(image.height - over)}px`;
    return true;
  };

  const lay = (slide) => {
    const all = parts(slide);
    const top = slide.getBoundingClientRect().top;
    const bottom = (part) => part.getBoundingClientRect().bottom - top;
    all.forEach(narrow);
    const first = all.findIndex((part) => bottom(part) > ROOM);
    if (first < 0) return;
    if (shrink(all[first], bottom(all[first]) - ROOM)) return void lay(slide);
    const scale = ROOM / bottom(all[first]);
    let start = first;
    while (start > 0 && (trails(all[start]) || leads(all[start - 1]))) start -= 1;
    if (first === 0 || (start === 0 && scale >= LEGIBLE)) {
      if (first + 1 < all.length) lay(cut(slide, all[first + 1]));
      slide.style.zoom = scale;
    } else lay(cut(slide, all[start || first]));
  };

  const notes = (slide) => slide.querySelector("aside.notes")?.textContent;

  // A short slide and its neighbour become one, a little smaller if need be.
  const join = (slide) => {
    const next = slide.nextElementSibling;
    if (!next || slide.style.zoom || next.style.zoom) return;
    const heights = [slide.offsetHeight, next.offsetHeight];
    const total = heights[0] + heights[1] - TOP;
    if (Math.min(...heights) > SHORT || (notes(next) && notes(next) !== notes(slide))) return;
    const alone = !next.innerText.trim(); // a picture
    if (total * DENSE > ROOM && !(alone && shrink(next, total - ROOM))) return;
    next.querySelectorAll("aside.notes").forEach((note) => note.remove());
    slide.append(...next.childNodes);
    next.remove();
    if (slide.offsetHeight > ROOM) slide.style.zoom = ROOM / slide.offsetHeight;
    join(slide);
  };

  // A picture that leaves room on its slide takes it.
  const grow = (slide) => {
    const image = slide.querySelectorAll("img").length === 1 && slide.querySelector("img:not(iframe + img)");
    if (!image) return;
    const spare = ROOM - slide.offsetHeight;
    const scale = Math.min(1.6, (WIDTH - 2 * MARGIN) / image.width, (image.height + spare) / image.height);
    if (scale > 1) image.style.cssText = `width: ${image.width * scale}px; max-height: none;`;
  };

  // A slide of a lecture with little on it is written larger, and stands in the middle.
  const fill = (slide) => {
    if (slide.style.zoom || slide.querySelector("img, iframe")) return;
    const room = slide.querySelector(".celltag_question, .celltag_answer") ? 2 : 1.6;
    for (let scale = room; scale > 1; scale -= 0.1) {
      slide.style.zoom = scale;
      const wide = parts(slide).some((part) => part.scrollWidth > part.clientWidth + 1);
      if (slide.getBoundingClientRect().height < 0.9 * ROOM && !wide) break;
      slide.style.zoom = "";
    }
    slide.style.setProperty("--above", `${(ROOM - slide.getBoundingClientRect().height) / 2}px`);
  };

  // The size of a slide is that of a box in it, for printing and for the overview.
  const box = (slide) => {
    const inner = document.createElement("div");
    inner.className = "room";
    inner.append(...slide.childNodes);
    inner.style.zoom = slide.style.zoom;
    slide.style.zoom = "";
    slide.append(inner, ...inner.querySelectorAll("aside.notes"));
  };

  const each = (act) => [...slides.children].forEach((slide) => slide.isConnected && act(slide));

  slides.querySelectorAll(":scope > section").forEach((stack) => stack.replaceWith(...stack.children));
  await MathJax.startup.promise;
  await MathJax.typesetPromise([slides]);
  // Not image.decode(), which Chromium's --print-to-pdf does not wait for.
  if (document.readyState !== "complete") await new Promise((go) => addEventListener("load", go));
  slides.style.width = `${WIDTH}px`;
  slides.classList.add("measured");
  each(lay);
  each(document.body.dataset.kind === "lecture" ? fill : join);
  each(grow);
  each(box);
  slides.classList.remove("measured");
  document.body.classList.toggle("handout", location.search === "?handout");
  // A living figure begins when its slide is shown: it must not run while others are, or in print.
  Reveal.on("slidechanged", ({currentSlide}) => {
    const frame = currentSlide.querySelector("iframe:not([srcdoc])");
    if (frame) frame.srcdoc = frame.dataset.page;
  });
  await Reveal.initialize({
    width: WIDTH, height: HEIGHT, margin: 0.02, center: false, hash: true,
    transition: "none", slideNumber: "c/t", plugins: [RevealNotes], navigationMode: "linear",
    pdfSeparateFragments: false, pdfMaxPagesPerSlide: 1, totalTime: 50 * 60,
  });
})();

// What one explorer looks like in the page, in the page's pixels: for test_page.py.
(box) => {
  const all = (where, root = box) => [...root.querySelectorAll(where)];
  const seen = (e) => e.offsetParent !== null && getComputedStyle(e).visibility !== "hidden";
  const place = (e) => {
    const { left, top, right, bottom } = e.getBoundingClientRect();
    return { left, top, right, bottom };
  };
  const wide = (e) => {  // what is written, to a fraction of a pixel: less is cut, too
    const range = document.createRange();
    range.selectNodeContents(e);
    return range.getBoundingClientRect().width;
  };
  const name = (e) => e.getAttribute("aria-label") || e.textContent.trim() || e.title || e.className;
  const parts = {};
  for (const part of ["head", "look", "tabs", "stage", "controls", "status"]) {
    const element = box.querySelector(`.bdl-${part}`);
    if (element && seen(element)) parts[part] = place(element);
  }
  const controls = all(
    ".bdl-group :is(.widget-inline-hbox:not(.bdl-name), .widget-toggle-buttons), .bdl-buttons > button, .bdl-film > *",
  ).filter((e) => seen(e) && !e.parentElement.closest(".widget-inline-hbox"));
  const written = ".widget-label, .widget-readout, button, .widget-html-content, .widget-radio label";
  const stops = (e) => all("*", e).filter((x) => x.tabIndex >= 0 && seen(x)).length;
  return {
    parts,
    window: place(box.closest(".jp-WindowedPanel-outer") ?? box.closest(".jp-Notebook")),
    box: place(box),
    tracks: all(".noUi-target").filter(seen).map((e) => e.getBoundingClientRect().width),
    controls: controls.map((e) => ({ name: name(e), ...place(e) })),
    cut: all(written).filter((e) => seen(e) && e.clientWidth)
      .filter((e) => wide(e) > e.getBoundingClientRect().width + 0.01)
      .map((e) => `${name(e)}: ${wide(e)} in ${e.getBoundingClientRect().width}`),
    beyond: all("*").filter((e) => seen(e) && place(e).right > place(box).right + 1).map(name),
    sliders: all("[role=slider]").map((e) => ({
      name: e.getAttribute("aria-label"),
      value: e.getAttribute("aria-valuetext"),
      shown: e.closest(".widget-slider").querySelector(".widget-readout").textContent.trim(),
      stops: stops(e.closest(".widget-slider")),
      dimmed: e.closest(".bdl-idle") !== null,
    })),
    nameless: all("button, select, [role=slider], [role=radiogroup], [role=group], img")
      .filter((e) => seen(e) && !(e.getAttribute("aria-label") || e.alt || e.textContent.trim()))
      .map((e) => e.outerHTML.slice(0, 120)),
    nulls: all("[title=null]").map(name),
    toggles: all(".widget-toggle-button").filter((e) => !e.closest(".widget-toggle-buttons"))
      .map((e) => [name(e), e.getAttribute("aria-pressed") === String(e.matches(".mod-active"))]),
    rows: all(".widget-toggle-buttons").map((e) => [
      e.getAttribute("role"),
      all("[role=radio][aria-checked=true]", e).length,
    ]),
    status: box.querySelector(".bdl-status .widget-html-content")?.getAttribute("aria-live"),
  };
}

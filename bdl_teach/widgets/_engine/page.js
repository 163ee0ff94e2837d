// The explorer's script in the page: it shows the picture at the size of its place, acts for buttons
// whose work only a page can do, and adds names and states for screen readers. pointer.js, which
// handles the pointer, comes before this file.

const LABELLED = ".widget-label";
const decoder = new TextDecoder();

// The picture.

// A picture that comes while another loads waits, else none would appear while many come.
function show(model, image, wait) {
  const bytes = model.get("value");
  image.alt = model.get("alt");
  if (!bytes?.byteLength || bytes === image.shows || image.loads) return;
  [image.shows, image.loads] = [bytes, true];
  image.onload = image.onerror = () => {
    image.loads = false;
    clip(model, image);
    show(model, image, wait);
  };
  image.src = decoder.decode(bytes);
  image.hidden = false;
  wait.hidden = !model.get("is_still");
  image.classList.toggle("bdl-still", model.get("is_still"));
}

const Y_LABEL = 14; // px that the label of its y axis takes at the left of a panel

// Hide the right side of a picture that was drawn for another place: there the page has controls.
function clip(model, image) {
  const { width = 0, height = 0, beside = [0] } = model.get("place");
  const [drawn, there] = [image.naturalWidth / image.naturalHeight, width / height];
  const fits = !model.get("is_still") && Math.abs(drawn / there - 1) < 0.01;
  const right = `${width - beside[0] + Y_LABEL}px`;
  image.style.clipPath = fits || !beside[0] ? "" : `inset(0 ${right} 0 0)`;
  image.nextElementSibling.style.right = beside[0] ? right : "";
}

// Report the size of the picture's place if it has changed.
function measure(model, stage) {
  const { left, top, width, height } = stage.getBoundingClientRect();
  if (width < 120 || height < 100 || width > 8000 || height > 8000) return; // during layout
  const ratio = Math.min(devicePixelRatio, 8);
  const side = stage.parentElement.querySelector(".bdl-side")?.getBoundingClientRect();
  const beside = side?.height ? [side.left - left, side.top - top, side.width, side.height] : [0, 0, 0, 0];
  const place = { width: Math.round(width), height: Math.round(height), ratio, beside: beside.map(Math.round) };
  if (JSON.stringify(place) === JSON.stringify(model.get("place"))) return;
  model.set("place", place);
  model.save_changes();
  clip(model, stage.querySelector("img.bdl-picture"));
}

let pressed = null; // the view, of all views of this model, in which a button was pressed last

function save(name, kind, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type: kind }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

// Names and states that core widgets leave out.

const set = (element, attributes) => {
  for (const [name, value] of Object.entries(attributes))
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
};

const nameOf = (box) => box.querySelector(LABELLED)?.textContent.trim() || "";

function nameSlider(box) {
  const handle = box.querySelector("[role=slider]");
  const readout = box.querySelector(".widget-readout");
  if (!handle) return;
  const off = box.querySelector("[disabled]") !== null;
  set(handle, { "aria-label": nameOf(box), tabindex: off ? "-1" : "0" });
  if (readout) {
    set(handle, { "aria-valuetext": readout.textContent.trim() });
    set(readout, { tabindex: "-1", role: "textbox", "aria-label": `${nameOf(box)}, typed` });
  }
  if (off) set(handle, { "aria-disabled": "true" });
  else handle.removeAttribute("aria-disabled");
}

// The only tab stop is the button that is down; arrows go to the others, as in a radio group.
function nameChoices(box) {
  set(box, { role: "radiogroup", "aria-label": nameOf(box) || (box.matches(".bdl-tabs") ? "panel beside the picture" : "choice") });
  for (const button of box.querySelectorAll("button")) {
    const down = button.matches(".mod-active");
    set(button, { role: "radio", "aria-checked": String(down), tabindex: down ? "0" : "-1" });
  }
}

function arrows(event) {
  const button = event.target.closest(".widget-toggle-buttons button");
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!button || !step) return;
  const all = [...button.closest(".widget-toggle-buttons").querySelectorAll("button")];
  const next = all[(all.indexOf(button) + step + all.length) % all.length];
  next.click();
  next.focus();
  event.preventDefault();
  event.stopPropagation();
}

function addNames(root) {
  for (const element of root.querySelectorAll("[title=null]")) element.removeAttribute("title");
  for (const box of root.querySelectorAll(".widget-slider")) nameSlider(box);
  for (const box of root.querySelectorAll(".widget-toggle-buttons")) nameChoices(box);
  for (const button of root.querySelectorAll(".widget-toggle-button"))
    if (!button.closest(".widget-toggle-buttons"))
      set(button, { "aria-pressed": String(button.matches(".mod-active")) });
  for (const box of root.querySelectorAll(".widget-radio")) {
    const asked = root.querySelector(".bdl-question .widget-html-content")?.textContent.trim();
    set(box, { role: "radiogroup", "aria-label": asked || "choice" });
  }
  for (const box of root.querySelectorAll(".widget-dropdown"))
    box.querySelector("select")?.setAttribute("aria-label", nameOf(box) || "choice");
  for (const line of root.querySelectorAll(".bdl-status .widget-html-content, .bdl-mission-words .widget-html-content"))
    set(line, { role: "status", "aria-live": "polite" });
  for (const group of root.querySelectorAll(".bdl-group"))
    set(group, { role: "group", "aria-label": group.querySelector(".bdl-name")?.textContent.trim() || "controls" });
  for (const bar of root.querySelectorAll("[role=progressbar], .widget-inline-hbox .progress"))
    set(bar, { role: "progressbar", "aria-label": nameOf(bar.closest(".widget-inline-hbox") ?? bar) || "progress" });
}

// The notebook rebuilds these views when a still is added to them. That waits while the explorer
// reports that it is in use. If it happens all the same, the keyboard focus is restored.

const STOPS = "button, select, input, textarea, [role=slider], [role=textbox], .bdl-hand";
let keyboard = null; // index of the element with the focus

function watchUse(model, root) {
  const stops = () => [...root.querySelectorAll(STOPS)];
  let down = false;
  const tell = () => {
    const within = root.contains(document.activeElement);
    if (root.isConnected) keyboard = within ? stops().indexOf(document.activeElement) : null;
    if ((within || down) === model.get("in_use")) return;
    model.set("in_use", within || down);
    model.save_changes();
  };
  const later = () => setTimeout(tell);
  const pointer = (event) => {
    down = event.type === "pointerdown" && root.contains(event.target);
    tell();
  };
  root.addEventListener("focusin", tell);
  root.addEventListener("focusout", later);
  for (const kind of ["pointerdown", "pointerup", "pointercancel"])
    document.addEventListener(kind, pointer, true);
  return {
    giveBack() {
      if (keyboard === null || document.activeElement !== document.body) return;
      stops()[keyboard]?.focus({ preventScroll: true });
    },
    close() {
      for (const kind of ["pointerdown", "pointerup", "pointercancel"])
        document.removeEventListener(kind, pointer, true);
    },
  };
}

// After each act of the user the page asks the worker to answer once the picture shows it. While cells
// run, or a computation is long, no answer comes: the page says so, and keeps a chosen preset for the
// explorer that takes the place of this one when its cell runs again.

const ASK = 150; // ms from an act until the page asks: most pictures are there before
const LATE = 300; // ms from an act until the page says that there is no answer
const ACTS = ["input", "change", "click", "keydown", "pointerup", "pointermove"];

function watchBusy(model, root, sign) {
  const kept = (window.bdlKept ??= new WeakMap()); // cell -> a preset that no kernel has taken yet
  const cell = root.closest(".jp-Cell");
  let [asked, acted, timer] = [0, false, 0]; // the timer runs until the page asks, then until it says so
  const ask = () => {
    acted = false;
    model.send({ act: "ask whether done", number: ++asked });
    timer = setTimeout(() => { sign.hidden = false; }, LATE - ASK);
  };
  const act = (event) => {
    if (event.type === "pointermove" && !event.buttons) return;
    if (event.target.matches(".bdl-head select") && event.type === "change" && cell)
      kept.set(cell, event.target.value.replaceAll("\u00a0", " "));
    if (event.target.matches(".bdl-head select") && event.type === "change" && document.fullscreenElement)
      root.focus({ preventScroll: true }); // else a clicker's arrow would choose the next preset
    acted = true;
    timer ||= setTimeout(ask, ASK);
  };
  const answer = ({ done }) => {
    if (done !== asked) return;
    clearTimeout(timer);
    timer = acted ? setTimeout(ask, ASK) : 0;
    sign.hidden = true;
    if (!acted) kept.delete(cell);
  };
  model.on("msg:custom", answer);
  for (const kind of ACTS) root.addEventListener(kind, act, true);
  if (kept.has(cell)) {
    model.send({ act: "preset", name: kept.get(cell) });
    ask();
    sign.hidden = false;
  }
  return () => {
    clearTimeout(timer);
    model.off("msg:custom", answer);
    for (const kind of ACTS) root.removeEventListener(kind, act, true);
  };
}

// The kernel may be restarted, die or be cut off: the widgets then have this class.
const LOST = "jupyter-widgets-disconnected";

// Say over the picture, which stays, that the kernel is lost, and take all else out of use.
function markLost(root, wait) {
  const [lost, head] = [root.classList.contains(LOST), root.querySelector(".bdl-head")];
  if (!head || head.inert === lost) return;
  const held = root.contains(document.activeElement);
  for (const part of root.querySelectorAll(".bdl-head, .bdl-place-of-question, .bdl-tabs, .bdl-controls, .bdl-below, .bdl-later"))
    part.inert = lost;
  wait.hidden = !lost;
  if (!lost) return;
  wait.textContent = "The kernel was restarted or lost: run this cell again (Shift+Enter).";
  if (held) root.focus({ preventScroll: true }); // else Shift+Enter would not reach the notebook
}

// JupyterLab takes keys from all that an output holds: an arrow on a button would fold a section. Only
// keys that run the cell, and those with Ctrl, Alt or the command key, leave an explorer.
function keepKeys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key !== "Enter" || !event.shiftKey) event.stopPropagation();
}

// Keys: save, undo and redo; the last two do not reach the notebook.
function keys(event, model) {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
  const key = event.key.toLowerCase();
  if (key === "s") { // so that a still is added before
    model.set("in_use", false);
    model.save_changes();
  }
  if (event.target.matches("input, textarea, [contenteditable=true]")) return;
  const act = key === "y" || (key === "z" && event.shiftKey) ? "redo" : key === "z" ? "undo" : "";
  if (!act) return;
  event.preventDefault();
  event.stopPropagation();
  model.send({ act });
}

function clicks(event, model, root) {
  // A click on its rail moves a slider, so it gets the keyboard focus.
  const slider = event.target.closest(".noUi-target")?.querySelector("[role=slider]");
  slider?.focus({ preventScroll: true });
  const button = event.target.closest("button");
  if (!button) return;
  pressed = root;
  if (button.matches(".bdl-full")) {
    if (document.fullscreenElement) document.exitFullscreen();
    else {
      root.requestFullscreen?.();
      root.focus({ preventScroll: true }); // else Space would press the button again
    }
  }
  if (button.matches(".bdl-share")) copy(model.get("line"));
  if (button.matches(".bdl-own")) askForTable(model, root);
}

// JupyterLab scrolls to the next cell after a run, and to the last after Run All. Scroll back to the
// explorer that was just run, or to the first of the notebook.
const shown = new WeakMap();
function comeBack(model, root) {
  const cell = root.closest(".jp-Cell");
  const active = cell?.parentElement.querySelector(":scope > .jp-mod-active");
  if (!active || shown.get(cell) === model) return;
  shown.set(cell, model);
  const explorers = ":scope > .jp-CodeCell:has(.bdl-explorer)";
  const first = cell.parentElement.querySelector(explorers) === cell;
  if (active === cell.nextElementSibling || (first && !active.nextElementSibling))
    root.scrollIntoView({ block: "start" });
}

export default {
  render({ model, el }) {
    const image = document.createElement("img");
    const wait = document.createElement("p");
    const busy = document.createElement("p");
    image.className = "bdl-picture";
    image.hidden = true;
    image.draggable = false;
    wait.className = "bdl-wait";
    wait.textContent = "The picture comes when TensorFlow has loaded …";
    el.classList.add("bdl-place");
    busy.className = "bdl-busy";
    busy.hidden = true;
    busy.textContent = "The kernel is busy: the picture is older than the controls.";
    set(busy, { role: "status" });
    el.append(image, wait, busy);
    const update = () => show(model, image, wait);
    model.on("change:value", update);
    model.on("change:alt", update);
    const handles = new Handles(model, el);
    const message = (content, buffers) => {
      const mine = !pressed || pressed === el.closest(".bdl-explorer");
      if (content.save && mine) save(content.save, content.kind, buffers[0]);
      if ("refused" in content) answerTable(model, el.closest(".bdl-explorer"), content);
    };
    model.on("msg:custom", message);
    update();

    const undo = [];
    const attach = () => {
      const root = el.closest(".bdl-explorer");
      if (!root) return;
      const stage = el.closest(".bdl-stage") ?? el;
      let frame = 0;
      const again = (act) => () => {
        cancelAnimationFrame(frame);
        frame = requestAnimationFrame(act);
      };
      const sizes = new ResizeObserver(again(() => measure(model, stage)));
      sizes.observe(stage);
      const side = root.querySelector(".bdl-side");
      if (side) sizes.observe(side);
      // Zoom or another screen may change the pixel ratio and nothing else.
      let media = null;
      const ratio = () => {
        media?.removeEventListener("change", ratio);
        media = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
        media.addEventListener("change", ratio);
        measure(model, stage);
      };
      ratio();
      window.addEventListener("resize", ratio);
      const use = watchUse(model, root);
      const watch = new MutationObserver(() => {
        addNames(root);
        markLost(root, wait);
        use.giveBack();
      });
      const what = { subtree: true, childList: true, characterData: true };
      watch.observe(root, { ...what, attributes: true, attributeFilter: ["class", "disabled", "title"] });
      const onKey = (event) => {
        keys(event, model);
        arrows(event);
      };
      const onClick = (event) => clicks(event, model, root);
      root.tabIndex = -1; // a click beside a control leaves the focus here, not with the notebook
      root.addEventListener("keydown", onKey, true);
      root.addEventListener("keydown", keepKeys);
      root.addEventListener("click", onClick);
      undo.push(watchBusy(model, root, busy));
      addNames(root);
      comeBack(model, root);
      use.giveBack();
      undo.push(() => {
        use.close();
        sizes.disconnect();
        watch.disconnect();
        window.removeEventListener("resize", ratio);
        media.removeEventListener("change", ratio);
        root.removeEventListener("keydown", onKey, true);
        root.removeEventListener("keydown", keepKeys);
        root.removeEventListener("click", onClick);
      });
    };
    // The view is rendered before it is attached to the page.
    const wait_for_root = setInterval(() => {
      if (!el.closest(".bdl-explorer")) return;
      clearInterval(wait_for_root);
      attach();
    }, 20);
    return () => {
      clearInterval(wait_for_root);
      model.off("change:value", update);
      model.off("change:alt", update);
      model.off("msg:custom", message);
      handles.close();
      for (const act of undo) act();
    };
  },
};

// Handles over the picture, with which pointer, touch and keys move points.
//
// A handle follows the pointer at once; the picture, with the model refitted, comes later.

const SVG = "http://www.w3.org/2000/svg";
const FINGER = 22; // pixels by which a finger may miss a point
const AHEAD = 1; // messages without an answer with which a place is still reported at once
const PATIENCE = 200; // ms for which it waits for these answers
const CLICK = 4; // pixels by which the pointer may move during a click
const NEAR = 0.012; // of the panel: the step of an arrow key; with Shift five times as far
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const HELP =
  "Data points. Page Up and Page Down choose a point, arrows move it, with Shift further, " +
  "Delete removes it, Insert adds one beside it.";

const make = (kind, attributes = {}) => {
  const element = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
};

// Write a place in the learner's units; as a date if ``zero`` is one.
function written(place, scale, zero) {
  if (zero.includes("-")) {
    const start = Date.parse(`${zero.replace(" ", "T")}${zero.includes(" ") ? "Z" : ""}`);
    return new Date(start + 864e5 * place).toISOString().slice(0, scale > 3 ? 10 : 16).replace("T", " ");
  }
  const digits = Math.floor(Math.log10(Math.max(Math.abs(place), scale))) - Math.floor(Math.log10(scale)) + 3;
  return String(Number(place.toPrecision(Math.min(Math.max(digits, 3), 17))));
}

const within = (value, [low, high]) => Math.min(Math.max(value, low), high);

class Handles {
  constructor(model, el) {
    this.model = model;
    this.svg = make("svg", {
      class: "bdl-hand", tabindex: "0", role: "application", "aria-label": HELP,
    });
    this.stages = []; // for each panel: {panel, group, ground, dots}
    this.said = document.createElement("div");
    this.said.className = "bdl-said";
    this.said.setAttribute("role", "status");
    el.append(this.svg, this.said);
    this.points = [];
    this.chosen = -1;
    this.held = null; // what the pointer holds: {i, id, moved}
    this.timer = 0; // of the next report of a place
    this.due = null; // what reports it
    this.answered = 0; // number of the newest message that the kernel has answered
    this.followed = -1; // index of the point whose place will be sent
    this.sent = 0; // number of the newest message: points that answer an older one are ignored
    this.read = () => this.take();
    this.draw = () => this.show();
    model.on("change:points", this.read);
    model.on("change:panels", this.draw);
    this.svg.addEventListener("pointerdown", (event) => this.down(event));
    // A finger on a point or in an "at" panel does not scroll the page; elsewhere it does.
    const keepFromScrolling = (event) => {
      const [stage, i] = this.under(this.at(event.touches[0]), FINGER);
      if (event.touches.length === 1 && (i >= 0 || stage?.panel.kind === "at")) event.preventDefault();
    };
    this.svg.addEventListener("touchstart", keepFromScrolling, { passive: false });
    this.svg.addEventListener("pointermove", (event) => this.move(event));
    this.svg.addEventListener("pointerup", (event) => this.up(event, true));
    this.svg.addEventListener("pointercancel", (event) => this.up(event, false));
    this.svg.addEventListener("lostpointercapture", (event) => {
      if (event.target === this.svg) this.up(event, false); // of a dot: the svg has taken it
    });
    this.svg.addEventListener("keydown", (event) => this.key(event));
    this.svg.addEventListener("focus", () => this.choose(Math.max(this.chosen, 0)));
    this.svg.addEventListener("blur", () => this.sendNow()); // before a click on a button takes effect
    this.sizes = new ResizeObserver(() => this.show());
    this.sizes.observe(el);
    this.take();
  }

  close() {
    this.sizes.disconnect();
    this.model.off("change:points", this.read);
    this.model.off("change:panels", this.draw);
    this.forget();
  }

  // Places.

  // The first panel that shows the points; keys move points in its units.
  get main() {
    return this.stages.find((stage) => stage.panel.kind === "points");
  }

  size() {
    const { width, height } = this.svg.getBoundingClientRect();
    return [width, height];
  }

  toPage({ left, top, width, height, x: xs, y: ys }, [x, y]) {
    const [w, h] = this.size();
    const across = (x - xs[0]) / (xs[1] - xs[0]);
    const up = (y - ys[0]) / (ys[1] - ys[0]);
    return [w * (left + width * across), h * (top + height * (1 - up))];
  }

  toData({ left, top, width, height, x: xs, y: ys }, [px, py]) {
    const [w, h] = this.size();
    const across = (px / w - left) / width;
    const up = 1 - (py / h - top) / height;
    return [within(xs[0] + across * (xs[1] - xs[0]), xs), within(ys[0] + up * (ys[1] - ys[0]), ys)];
  }

  at(event) {
    const box = this.svg.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  // Return the panel at a place, and the index of the point within ``reach`` pixels, or -1.
  under([px, py], reach) {
    const [w, h] = this.size();
    const stage = this.stages.find(({ panel: { left, top, width, height } }) => {
      const [across, down] = [px - w * left, py - h * top];
      return across > -reach && across < w * width + reach && down > -reach && down < h * height + reach;
    });
    let found = -1;
    if (stage?.panel.kind === "points")
      this.points.forEach((point, i) => {
        const [x, y] = this.toPage(stage.panel, point);
        const far = Math.hypot(x - px, y - py);
        if (far <= reach) [found, reach] = [i, far];
      });
    return [stage, found];
  }

  // Drawing.

  take() {
    const { at, answers } = { at: [], answers: 0, ...this.model.get("points") };
    this.answered = answers;
    this.sent = Math.max(this.sent, answers); // of a view that this one has replaced
    if (this.timer && answers >= this.sent - AHEAD) this.goOn();
    if (!this.held && !this.timer && answers >= this.sent) this.points = at.map((p) => [...p]);
    this.show();
  }

  show() {
    const panels = this.model.get("panels") || [];
    while (this.stages.length > panels.length) this.stages.pop().group.remove();
    while (this.stages.length < panels.length) {
      const [group, ground, dots] = [make("g"), make("rect", { class: "bdl-ground" }), make("g")];
      group.append(ground, dots);
      this.svg.append(group);
      this.stages.push({ group, ground, dots });
    }
    this.svg.style.display = panels.length ? "" : "none";
    this.chosen = Math.min(this.chosen, this.points.length - 1);
    panels.forEach((panel, k) => this.showPanel(Object.assign(this.stages[k], { panel })));
    this.svg.classList.toggle("bdl-map", !this.main);
    this.svg.setAttribute("aria-label", this.main ? HELP : "A place in the picture, for the pointer");
    for (const stage of this.stages) stage.group.classList.toggle("bdl-main", stage === this.main);
    this.svg.setAttribute("tabindex", this.main ? "0" : "-1");
  }

  showPanel(stage) {
    const { panel, ground, dots } = stage;
    const [w, h] = this.size();
    for (const [name, value] of Object.entries({
      x: w * panel.left, y: h * panel.top, width: w * panel.width, height: h * panel.height,
    }))
      ground.setAttribute(name, value);
    const shown = panel.kind === "points" ? this.points : [];
    while (dots.childElementCount > shown.length) dots.lastChild.remove();
    while (dots.childElementCount < shown.length)
      dots.append(make("circle", { r: 7, class: "bdl-dot" }));
    shown.forEach((point, i) => {
      const dot = dots.children[i];
      const [x, y] = this.toPage(panel, point);
      dot.setAttribute("cx", x.toFixed(1));
      dot.setAttribute("cy", y.toFixed(1));
      const out = x < w * panel.left || x > w * (panel.left + panel.width);
      dot.style.display = out ? "none" : "";
      dot.classList.toggle("bdl-chosen", i === this.chosen);
      dot.classList.toggle("bdl-held", this.held?.stage === stage && this.held.i === i);
    });
  }

  choose(i) {
    this.chosen = Math.min(i, this.points.length - 1);
    this.show();
    this.tell();
  }

  tell() {
    if (this.chosen < 0 || !this.main) return;
    const { units: [x0, x1, y0, y1], zeros } = this.main.panel;
    const [x, y] = this.points[this.chosen];
    this.said.textContent =
      `point ${this.chosen + 1} of ${this.points.length}: ` +
      `x ${written(x0 + x1 * x, x1, zeros[0])}, y ${written(y0 + y1 * y, y1, zeros[1])}`;
  }

  send(act, more = {}) {
    this.sent += 1;
    this.model.send({ act, number: this.sent, ...more });
  }

  // Add a point without waiting for an answer, since the next key may be for it.
  add(x, y) {
    if (this.points.length >= this.main.panel.most) return;
    this.sendNow();
    this.points.push([x, y]);
    this.send("add", { x, y });
    this.choose(this.points.length - 1);
  }

  remove(i) {
    if (this.points.length < 2) return;
    this.sendNow();
    this.points.splice(i, 1);
    this.send("remove", { i });
    this.choose(Math.min(i, this.points.length - 1));
  }

  // Report a place in an "at" panel.
  go(act, stage, at) {
    const [x, y] = this.toData(stage.panel, at);
    this.send(act, { x, y, panel: this.stages.indexOf(stage) });
  }

  // Report a place once most are answered: more reports would only keep the kernel busy.
  soon(act) {
    this.due = act;
    this.timer = setTimeout(() => this.goOn(), this.answered < this.sent - AHEAD ? PATIENCE : 0);
  }

  goOn() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.due();
  }

  // Report a point soon. Before another point, the last place of this one is sent.
  follow(i) {
    if (this.followed === i) return;
    this.sendNow();
    this.followed = i;
    this.soon(() => this.sendNow());
  }

  // Send the waiting place at once.
  sendNow() {
    const i = this.followed;
    if (i < 0) return;
    this.forget();
    this.report(i);
  }

  forget() {
    clearTimeout(this.timer);
    [this.timer, this.followed] = [0, -1];
  }

  report(i) {
    const [x, y] = this.points[i];
    this.send("move", { i, x, y });
  }

  // Pointer and touch.

  down(event) {
    this.empty = null;
    if (event.button !== 0) return;
    const at = this.at(event);
    const [stage, i] = this.under(at, event.pointerType === "mouse" ? 10 : FINGER);
    if (!stage) return;
    this.start = at;
    if (stage.panel.kind === "at") {
      event.preventDefault();
      this.svg.setPointerCapture(event.pointerId);
      this.held = { i: -1, id: event.pointerId, stage };
      this.go("down", stage, at);
    } else if (stage.panel.kind !== "points") return;
    else if (i < 0) this.empty = event.target === stage.ground ? stage : null;
    else if (event.shiftKey) this.remove(i);
    else {
      event.preventDefault();
      this.svg.focus({ preventScroll: true });
      this.svg.setPointerCapture(event.pointerId);
      this.held = { i, id: event.pointerId, stage, moved: false };
      this.choose(i);
    }
  }

  move(event) {
    const held = this.held;
    const at = this.at(event);
    if (!held || held.id !== event.pointerId) return;
    if (held.i < 0) {
      this.place = at;
      if (!this.timer)
        this.soon(() => this.go("at", held.stage, this.place));
      return;
    }
    if (!held.moved) {
      if (Math.hypot(at[0] - this.start[0], at[1] - this.start[1]) < 2) return;
      held.moved = true;
      this.send("down");
    }
    const [x, y] = this.toData(held.stage.panel, at);
    this.points[held.i] = [x, y];
    this.show();
    this.follow(held.i);
  }

  up(event, done) {
    const held = this.held;
    const at = this.at(event);
    if (held?.id === event.pointerId) {
      if (this.followed !== held.i) this.sendNow(); // a place that keys have set
      this.forget();
      this.held = null;
      if (held.i < 0) this.go("up", held.stage, at);
      else if (held.moved) {
        this.report(held.i);
        this.send("up");
        this.tell();
      }
      this.show();
      return;
    }
    const still = this.start && Math.hypot(at[0] - this.start[0], at[1] - this.start[1]) < CLICK;
    if (done && this.empty && still && !event.shiftKey)
      this.add(...this.toData(this.empty.panel, at));
    this.empty = null;
  }

  // Keys.

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.main) return;
    if (this.act(event)) event.preventDefault();
  }

  act(event) {
    const n = this.points.length;
    if (!n) return false;
    const i = Math.max(this.chosen, 0);
    const [x, y] = this.points[i];
    const { x: xs, y: ys } = this.main.panel;
    const across = NEAR * (xs[1] - xs[0]);
    const up = NEAR * (ys[1] - ys[0]);
    if (event.key in ARROWS) {
      const far = event.shiftKey ? 5 : 1;
      const [dx, dy] = ARROWS[event.key];
      this.chosen = i;
      this.points[i] = [within(x + far * dx * across, xs), within(y + far * dy * up, ys)];
      this.show();
      this.follow(i);
      this.tell();
    } else if (event.key === "PageDown") this.choose(this.beside(i, 1));
    else if (event.key === "PageUp") this.choose(this.beside(i, -1));
    else if (event.key === "Delete" || event.key === "Backspace") this.remove(i);
    else if (event.key === "Insert" || (event.key === "Enter" && !event.shiftKey)) this.add(within(x + across, xs), y);
    else return false;
    return true;
  }

  // Return the next point to the right or left, from the last to the first.
  beside(i, step) {
    const order = this.points.map((_, k) => k).sort((a, b) => this.points[a][0] - this.points[b][0]);
    const place = order.indexOf(i);
    return order[(place + step + order.length) % order.length];
  }
}

// The learner's own table: a dialog that takes pasted, typed or dropped text.

const MOST = 4000000; // characters

// Read a file in the encodings that spreadsheets write.
async function textOf(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const [a, b] = bytes;
  if ((a === 255 && b === 254) || (a === 254 && b === 255))
    return new TextDecoder(a === 255 ? "utf-16le" : "utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

function askForTable(model, root) {
  let dialog = root.querySelector("dialog.bdl-table");
  if (!dialog) {
    dialog = document.createElement("dialog");
    dialog.className = "bdl-table";
    dialog.setAttribute("data-lm-suppress-shortcuts", "true");
    dialog.setAttribute("aria-label", "my data");
    dialog.innerHTML =
      '<p><b>My data</b>: two columns, x and y, copied from a spreadsheet, a web page or a CSV file. ' +
      "From a very long table some rows are drawn at random; the sentence below the picture says how many. " +
      "The model sees x scaled to ±½, and y with mean 0 and sd 5. Sliders use these units. Axes and " +
      "the numbers in the text use yours.</p>" +
      '<textarea rows="9" aria-label="two columns, x and y" spellcheck="false" ' +
      'placeholder="1.2, 30.5&#10;1.9, 28.1&#10;…"></textarea>' +
      '<p class="bdl-refused" role="alert"></p><p class="bdl-choice"></p>' +
      '<p><input type="file" accept=".csv,.txt,.tsv" aria-label="a file"> ' +
      '<button class="jupyter-button bdl-use">use it</button> ' +
      '<button class="jupyter-button bdl-leave">cancel</button></p>';
    root.append(dialog);
    const area = dialog.querySelector("textarea");
    const read = async (file) => {
      if (!file) return;
      area.value = await textOf(file);
      clearAnswer(dialog);
    };
    dialog.querySelector("input").addEventListener("change", (event) => read(event.target.files[0]));
    area.addEventListener("input", () => clearAnswer(dialog));
    area.addEventListener("drop", (event) => {
      if (!event.dataTransfer.files.length) return;
      event.preventDefault();
      read(event.dataTransfer.files[0]);
    });
    dialog.querySelector(".bdl-use").addEventListener("click", () => sendTable(model, dialog));
    dialog.querySelector(".bdl-leave").addEventListener("click", () => dialog.close());
  }
  clearAnswer(dialog);
  dialog.showModal();
}

function clearAnswer(dialog) {
  dialog.querySelector(".bdl-refused").textContent = "";
  dialog.querySelector(".bdl-choice").replaceChildren();
  dialog.chosen = {};
}

function sendTable(model, dialog) {
  const text = dialog.querySelector("textarea").value;
  const menus = [...dialog.querySelectorAll(".bdl-choice select")];
  const chosen = { ...dialog.chosen };
  if (menus.length) chosen.columns = menus.map((menu) => Number(menu.value));
  clearAnswer(dialog);
  dialog.chosen = chosen;
  if (text.length > MOST)
    dialog.querySelector(".bdl-refused").textContent = "more than 4 million characters: paste a part";
  else model.send({ act: "table", text, ...chosen });
}

// Show the answer to a table: a sentence that refuses it or asks for a choice, or nothing.
function answerTable(model, root, { refused, columns = [], argument, readings = [] }) {
  const dialog = root?.querySelector("dialog.bdl-table");
  if (!dialog) return;
  dialog.querySelector(".bdl-refused").textContent = refused;
  const choice = dialog.querySelector(".bdl-choice");
  choice.replaceChildren();
  if (columns.length)
    ["x", "y"].forEach((axis, i) => {
      const menu = document.createElement("select");
      menu.append(...columns.map((name, k) => new Option(name, k, k === i, k === i)));
      const label = document.createElement("label");
      label.append(`${axis}: `, menu, " ");
      choice.append(label);
    });
  for (const [value, words] of readings) {
    const button = document.createElement("button");
    button.className = "jupyter-button";
    button.textContent = words;
    button.addEventListener("click", () => {
      dialog.chosen = { ...dialog.chosen, [argument]: value };
      sendTable(model, dialog);
    });
    choice.append(button, " ");
  }
  if (!refused) dialog.close();
}

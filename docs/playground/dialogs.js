"use strict";

/* Watching, undo, and the dialogs. */

let playing = 0;
const watching = () => $("watch").getAttribute("aria-pressed") === "true";
const still = matchMedia("(prefers-reduced-motion: reduce)");

function pausePlaying() {
  clearInterval(playing);
  playing = 0;
  $("play").textContent = say("play");
}

$("watch").onclick = () => {
  const on = !watching();
  pausePlaying();
  $("watch").setAttribute("aria-pressed", on);
  $("play").disabled = $("one").disabled = !on;
  ask();
};
const forward = (advance) => panels.forEach(({ method, id, workers }) => method === "hmc" || workers[0]?.postMessage({ id, on: advance }));
$("one").onclick = () => forward(10);
$("play").onclick = () => {
  if (playing) return pausePlaying();
  playing = setInterval(() => {
    forward(still.matches ? 100 : 10);
    if (panels.every(({ method, answer }) => method === "hmc" || (answer && !answer.old && answer.final))) pausePlaying();
  }, still.matches ? 1000 : 60);
  $("play").textContent = say("pause");
  if (innerWidth <= 760) $("panels").scrollIntoView({ behavior: still.matches ? "auto" : "smooth" });
};

$("undo").onclick = () => travel(past, future);
$("redo").onclick = () => travel(future, past);
addEventListener("keydown", (event) => {
  if (dialog.open || event.altKey || !(event.ctrlKey || event.metaKey)) return;
  const key = keyOf(event);
  if (key === "z" && !event.shiftKey) travel(past, future);
  else if (key === "y" || key === "z") travel(future, past);
  else return;
  event.preventDefault();
});
$("reset").onclick = () => {
  chosen = -1;
  change({ ...startOf(SMALL && given?.tour), ...(SMALL && given), language: state.language }); // a small page begins where its address says
};
$("remove").onclick = () => $("remove").setAttribute("aria-pressed", !removing());
$("language").onchange = () => change({ language: $("language").value });

const dialog = $("dialog");
function openDialog(about, text, label, act) {
  const local = location.protocol === "file:" && ["shareAbout", "embedAbout"].includes(about);
  $("about").textContent = say(about) + (local ? ` ${say("local")}` : "");
  $("text").value = text;
  $("text").readOnly = about !== "pasteAbout";
  $("fault").textContent = "";
  $("choose").hidden = $("code").hidden = true;
  $("act").textContent = say(label);
  $("act").onclick = act;
  dialog.showModal();
  if ($("text").readOnly) $("text").select();
}
async function copy() {
  let done = true;
  try {
    await navigator.clipboard.writeText($("text").value);
  } catch {
    $("text").select();
    done = document.execCommand("copy");
  }
  if (done) $("act").textContent = say("copied");
  else $("fault").textContent = say("refused");
}
const address = () => {
  const query = toAddress();
  return location.href.split("#")[0] + (query ? `#${query}` : "");
};
const escaped = (text) => text.replace(/&/g, "&amp;").replace(/"/g, "&quot;");
$("share").onclick = () => {
  openDialog("shareAbout", address(), "copy", copy);
  drawCode(address());
};
const FITS = "addEventListener('message', ({ source, data }) => { for (const f of document.getElementsByTagName('iframe')) "
  + "if (f.contentWindow === source && data.playground) f.style.height = data.playground.height + 'px'; });";
$("embed").onclick = () => {
  const [page, query = ""] = address().split("#"), small = `${page.split("?")[0]}?ui=min&controls=sigma,noise#${query}`;
  const frame = `<iframe src="${escaped(small)}" style="width:100%;height:560px;border:0" title="${escaped(say("title"))}"></iframe>`;
  openDialog("embedAbout", `${frame}\n<script>${FITS}</script>`, "copy", copy);
};
$("notebook").onclick = () => openDialog("notebookAbout", python(), "copy", copy);
$("paste").onclick = () => openDialog("pasteAbout", "", "use", () => {
  $("fault").textContent = "";
  try {
    const columns = $("choose").hidden ? null : [Number($("column0").value), Number($("column1").value)];
    const table = read($("text").value, columns);
    chosen = -1;
    change({ points: table.points, units: table.units, ...checked({ names: table.names.join("\t"), zeros: table.zeros.join("\t") }) });
    const more = table.notes.map(([key, values]) => say(`notes.${key}`, values)).join("");
    $("told").textContent = say("pasted", { n: table.points.length }) + more;
    dialog.close();
  } catch (error) {
    if (!error.key) throw error;
    $("fault").textContent = say(`errors.${error.key}`, error.values);
    if (error.key === "choose") offer(error.values.found);
  }
});

/** Let two columns be chosen: [[place, name], …]. */
function offer(found) {
  for (const k of [0, 1]) {
    const options = found.map(([place, name]) => element("option", { value: place, textContent: name || place + 1 }));
    $(`column${k}`).replaceChildren(...options);
    $(`column${k}`).selectedIndex = k;
  }
  $("choose").hidden = false;
}
$("text").oninput = () => { $("choose").hidden = true; };

/** The line of Python that opens the same problem in an explorer of the package. */
function python() {
  const list = (k) => learners().map((p) => p[k]).join(", ");
  const labels = [state.names, state.zeros].flatMap((pair) => [0, 1].map((k) => pair.split("\t")[k] ?? ""));
  const data = `data=((${list(0)}), (${list(1)}), (${state.units.join(", ")})${labels.some(Boolean) ? `, ${JSON.stringify(labels)}` : ""})`;
  const one = state.layers === 1 && state.prior === "gaussian";
  const values = one
    ? `prior_std=${round(state.sigma)}, noise_std=${round(state.noise)}, width=${state.width}`
    : `sigma1=${round(state.prior === "mixture" ? state.sigma1 : state.sigma)}, sigma2=${Number(state.sigma2.toPrecision(3))}, pi=${state.prior === "mixture" ? round(state.pi) : 1.0}, `
      + `noise_std=${round(state.noise)}, width=${state.width}, estimator="weights", n_samples=${state.samples}, kl_weight=${Number(state.kl.toPrecision(3))}`;
  return `from bdl_teach.widgets import ${one ? "TruthExplorer" : "SinusoidExplorer"}\n${one ? "TruthExplorer" : "SinusoidExplorer"}(${values}, ${data})`;
}

"use strict";

/* A code of the link, to be read by a phone; and a film of the next five seconds. */

function drawCode(text) {
  const code = leanQr.generate(text);
  $("code").hidden = false;
  $("code").setAttribute("aria-label", say("codeOf"));
  code.toCanvas($("code"), { on: [0, 0, 0], off: [255, 255, 255], pad: 3 });
}

const SECONDS = 5;
/** Film both pictures for five seconds, and save the film as a file; resolves with its size, 0 if it cannot. */
async function film() {
  const { width, height } = panels[0].canvas, sheet = element("canvas", { width: panels.length * width, height }), c = sheet.getContext("2d");
  const kind = ["video/webm;codecs=vp9", "video/webm", "video/mp4"].find((one) => window.MediaRecorder?.isTypeSupported(one));
  if (!kind || !sheet.captureStream) {
    $("told").textContent = say("noFilm");
    return 0;
  }
  const recorder = new MediaRecorder(sheet.captureStream(30), { mimeType: kind, videoBitsPerSecond: 1.4e5 }), parts = [];
  recorder.ondataavailable = ({ data }) => parts.push(data);
  const ended = new Promise((resolve) => (recorder.onstop = resolve));
  recorder.start();
  $("record").disabled = true;
  const from = performance.now();
  for (let left = SECONDS; left > 0; left = SECONDS - (performance.now() - from) / 1000) {
    $("record").textContent = say("recording", { seconds: Math.ceil(left) });
    c.fillStyle = "#ffffff";
    c.fillRect(0, 0, sheet.width, height);
    panels.forEach(({ canvas }, k) => c.drawImage(canvas, k * width, 0));
    await new Promise((resolve) => setTimeout(resolve, 1000 / 30));
  }
  recorder.stop();
  await ended;
  const file = new Blob(parts, { type: kind.split(";")[0] }), name = `bayes-${state.a}-${state.b}.${kind.includes("mp4") ? "mp4" : "webm"}`;
  const link = element("a", { href: URL.createObjectURL(file), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  $("record").disabled = false;
  $("record").textContent = say("record");
  $("told").textContent = say("filmed", { name, size: Math.round(file.size / 1000) });
  return file.size;
}
$("record").onclick = film;

// Runs in every page before its own scripts: notes each key press and each picture that was
// repainted with other pixels, on the page's clock (performance.now, 0 = start of navigation).
(() => {
  const probe = (window.bdlProbe = { keys: [], paints: [] });
  const SMALLEST = 8000; // a picture with a smaller area on the page, in px², shows nothing
  const clock = () => performance.now();
  const shown = new WeakMap(); // picture -> number made of its pixels
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d", { willReadFrequently: true });

  const visible = (image) => {
    const { width, height } = image.getBoundingClientRect();
    return image.naturalWidth > 0 && width * height >= SMALLEST;
  };

  // A number made of the pixels, from a small copy of the picture.
  const digest = (image) => {
    const scale = Math.min(1, 220 / image.naturalWidth);
    canvas.width = Math.max(1, Math.round(image.naturalWidth * scale));
    canvas.height = Math.max(1, Math.round(image.naturalHeight * scale));
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    const words = new Uint32Array(data.buffer);
    return words.reduce((sum, word) => Math.imul(sum ^ word, 16777619), 2166136261);
  };

  // The task posted from an animation frame runs once that frame is painted.
  const afterPaint = (action) =>
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = action;
      channel.port2.postMessage(0);
    });

  document.addEventListener("keydown", (e) => e.isTrusted && probe.keys.push(e.timeStamp), true);
  document.addEventListener(
    "load",
    (e) => {
      const image = e.target;
      if (image.tagName !== "IMG" || !image.matches(".bdl-picture:not(.bdl-still)")) return;
      afterPaint(() => {
        const time = clock();
        if (!visible(image)) return;
        const now = digest(image);
        if (shown.get(image) !== now) probe.paints.push({ time, image });
        shown.set(image, now);
      });
    },
    true,
  );

  // What is hidden while there is nothing to press, with its room or without, is no button yet.
  const seen = (button) => button.checkVisibility({ visibilityProperty: true });
  // What says of itself that the picture does not depend on it.
  const told = (element) => !element.closest(".bdl-idle");
  probe.explorers = () => {
    const notebook = document.querySelector(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook");
    const boxes = notebook ? notebook.querySelectorAll(".jp-OutputArea .bdl-explorer") : [];
    return [...boxes].map((box) => ({
      box,
      handles: [...box.querySelectorAll("[role=slider]")].filter(told),
      buttons: [...box.querySelectorAll("button.jupyter-button")].filter(seen).filter(told),
    }));
  };
  const label = (handle) => {
    const name = handle.closest(".widget-slider, .jupyter-widgets")?.querySelector(".widget-label");
    return (name?.textContent || handle.getAttribute("aria-label") || "").trim();
  };
  const press = (handle, key) =>
    handle.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  // Looking through the whole notebook takes ms, which would count as the explorer's: once is enough.
  let found = [];
  const explorer = (number) => {
    if (found.some(({ box }) => !box.isConnected)) found = [];
    if (!found.length) found = probe.explorers();
    return found[number];
  };
  const numbers = (buttons, which) => buttons.flatMap((b, i) => (which(b) ? [i] : []));
  probe.list = () =>
    (found = probe.explorers()).map(({ box, handles, buttons }) => {
      const rows = [...box.querySelectorAll(".widget-toggle-buttons")];
      const lone = (b) => b.matches(".widget-toggle-button") && !b.closest(".widget-toggle-buttons");
      return {
        sliders: handles.map(label),
        buttons: buttons.map((b) => (b.textContent || b.title || "").trim()),
        toggles: numbers(buttons, lone),
        choices: rows
          .map((row) => numbers(buttons, (b) => row.contains(b)))
          .filter((row) => row.length),
      };
    });
  probe.slider = (number, i) => explorer(number).handles[i];
  probe.focus = (number, i) => {
    const handle = probe.slider(number, i);
    handle.scrollIntoView({ block: "center" });
    handle.focus({ preventScroll: true });
    return document.activeElement === handle;
  };
  probe.value = (number, i) => {
    const handle = probe.slider(number, i);
    const readout = handle.closest(".jupyter-widgets")?.querySelector(".widget-readout");
    return handle.getAttribute("aria-valuenow") + "|" + (readout ? readout.textContent : "");
  };
  probe.pictures = (number) => {
    const images = explorer(number).box.querySelectorAll("img.bdl-picture");
    return [...images].filter(visible).length;
  };
  const words = (box, where) => (box.querySelector(where)?.textContent ?? "").trim();
  const text = ".widget-html-content";
  probe.status = (number) => words(explorer(number).box, `.bdl-status ${text}`);
  // Move a slider back to a value that `probe.value` gave, key by key.
  probe.restore = (number, i, wanted) => {
    const handle = probe.slider(number, i);
    const keys = ["ArrowLeft", "ArrowRight"];
    if (parseFloat(wanted) > parseFloat(probe.value(number, i))) keys.reverse();
    for (const key of keys) {
      for (let n = 0; n < 500 && probe.value(number, i) !== wanted; n++) press(handle, key);
    }
    return probe.value(number, i) === wanted;
  };
  // As a reader would: not before the button can be pressed.
  probe.click = async (number, i) => {
    const button = explorer(number).buttons[i];
    button.scrollIntoView({ block: "center" });
    for (let n = 0; n < 200 && button.disabled; n++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    button.click();
  };
  probe.down = (number, i) => explorer(number).buttons[i].classList.contains("mod-active");
  // Times of the repaints of an explorer's pictures since `start`.
  probe.since = (number, start) => {
    const { box } = explorer(number);
    const mine = probe.paints.filter((p) => p.time > start && box.contains(p.image));
    return mine.map((p) => p.time);
  };
  // Resolves once the pictures changed after `start` and rested since, or have no change to show.
  probe.settled = (number, start, quiet, timeout) =>
    new Promise((resolve) => {
      const look = () => {
        const times = probe.since(number, start);
        const rests = times.length && clock() - times[times.length - 1] > quiet;
        if (rests || clock() - start > timeout) resolve(times);
        else setTimeout(look, 15);
      };
      look();
    });
  // The middle of an explorer's points, on the page; null where there is none.
  probe.point = (number) => {
    const dots = [...explorer(number).box.querySelectorAll(".bdl-dot")];
    if (!dots.length) return null;
    dots[0].scrollIntoView({ block: "center" });
    const { left, top, width, height } = dots[dots.length >> 1].getBoundingClientRect();
    return [left + width / 2, top + height / 2];
  };
  probe.clear = () => {
    probe.keys = [];
    probe.paints = [];
    return clock();
  };

  // Keys at `rate` a second for `seconds`, up and down the range; resolves to what was sent.
  probe.flood = (number, i, seconds, rate) =>
    new Promise((resolve) => {
      const handle = probe.slider(number, i);
      const begin = clock();
      let [sent, key, stuck, value, changed] = [0, "ArrowRight", 0, probe.value(number, i), begin];
      const timer = setInterval(() => {
        if (clock() - begin > 1000 * seconds) {
          clearInterval(timer);
          return resolve({ begin, end: clock(), sent, changed });
        }
        for (; sent < ((clock() - begin) / 1000) * rate; sent++) {
          press(handle, key);
          const now = probe.value(number, i);
          stuck = now === value ? stuck + 1 : 0;
          if (now !== value) changed = clock();
          value = now;
          if (stuck > 1) [key, stuck] = [key === "ArrowRight" ? "ArrowLeft" : "ArrowRight", 0];
        }
      }, 4);
    });
})();

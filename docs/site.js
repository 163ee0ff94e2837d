"use strict";

/* Give each embedded playground the height that it asks for and the site's theme; let code be copied. */
(() => {
  const frames = () => [...document.querySelectorAll("iframe.playground, iframe.living")];
  const dress = (frame) => frame.contentWindow.postMessage({ playground: { theme: document.body.dataset.theme } }, "*");
  addEventListener("message", ({ source, data }) => {
    const frame = frames().find((one) => one.contentWindow === source), height = data?.playground?.height;
    if (!frame || !(height > 0)) return;
    if (Math.abs(frame.clientHeight - height) > 1) frame.style.height = `${height + 2}px`;
    dress(frame);
  });
  addEventListener("DOMContentLoaded", () => {
    new MutationObserver(() => frames().forEach(dress)).observe(document.body, { attributeFilter: ["data-theme"] });
    for (const code of document.querySelectorAll(".cell_input .highlight, article .highlight")) {
      const button = document.createElement("button"), text = code.innerText;
      Object.assign(button, { type: "button", className: "copy", textContent: "copy" });
      button.onclick = async () => {
        await navigator.clipboard.writeText(text);
        button.textContent = "copied";
      };
      if (navigator.clipboard) code.append(button);
    }
  });
})();

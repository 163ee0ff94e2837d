"use strict";

/* Give each embedded page of the playground the height that it asks for, and the site's theme. */
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
  });
})();

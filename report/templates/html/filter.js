// Hides stores and workloads in tables, sections and charts. What is hidden is said at the top,
// beside each table and figure that lacks something, and in the address.
(() => {
  const form = document.getElementById("filter");
  if (!form) return;
  const { words, fill, say, kept, keep: keepInAddress } = window.kvPage;
  const banner = document.getElementById("filtered");
  const boxes = [...form.querySelectorAll("input")];
  form.hidden = false;

  const off = (kind) => boxes.filter((box) => box.name === kind && !box.checked).map((box) => box.value);

  /** Whether an element belongs to something hidden; it may name several, for pairs. */
  const isHidden = (names, hidden) => (names ?? "").split(" ").some((name) => hidden.includes(name));

  function show() {
    const stores = off("store");
    const workloads = off("workload");
    for (const part of document.querySelectorAll("main [data-store], main [data-workload]")) {
      const hide = isHidden(part.dataset.store, stores) || isHidden(part.dataset.workload, workloads);
      part.toggleAttribute("data-filtered", hide);
    }
    // The title of rows that are all hidden.
    for (const title of document.querySelectorAll("tr.section")) {
      let below = title.nextElementSibling;
      let hides = Boolean(below);
      while (below && !below.matches(".section")) {
        hides &&= below.hasAttribute("data-filtered");
        below = below.nextElementSibling;
      }
      title.toggleAttribute("data-filtered", hides);
    }
    for (const link of document.querySelectorAll("aside nav a")) {
      const goal = document.getElementById(decodeURIComponent(link.hash.slice(1)));
      link.parentElement.toggleAttribute("data-filtered", Boolean(goal?.closest("[data-filtered]")));
    }
    for (const figure of document.querySelectorAll("main figure")) {
      const charted = figure.querySelector(".drawing.live")?.kvLacks?.(stores, workloads);
      note(figure, charted || Boolean(figure.querySelector("[data-filtered]")));
    }
    window.kvCharts?.hide({ stores, workloads });
    tell();
  }

  function note(figure, lacks) {
    figure.querySelector(".lacks")?.remove();
    if (!lacks) return;
    const mark = document.createElement("span");
    mark.className = "lacks";
    mark.textContent = words.filtered_mark;
    figure.querySelector("figcaption").append(" ", mark);
  }

  function tell() {
    const names = boxes.filter((box) => !box.checked).map((box) => box.parentElement.textContent.trim());
    const text = names.length ? fill(words.hidden, { names: names.join(", ") }) : "";
    if (!text && banner.hidden) return;
    banner.hidden = !text;
    document.getElementById("filtered-what").textContent = text;
    // What sticks to the top stands below it.
    document.documentElement.style.setProperty("--banner", `${banner.offsetHeight}px`);
    say(text || words.all_shown);
  }

  /** The hidden ones in the address, so that a link shows the same. */
  function keep() {
    const hidden = boxes.filter((box) => !box.checked).map((box) => `${box.name}:${box.value}`);
    keepInAddress({ hide: hidden.join(",") });
  }

  function read() {
    const { hide } = kept();
    if (!hide) return;
    const hidden = hide.split(",");
    for (const box of boxes) box.checked = !hidden.includes(`${box.name}:${box.value}`);
    show();
  }

  form.addEventListener("change", () => {
    show();
    keep();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("show-all").addEventListener("click", () => {
    for (const box of boxes) box.checked = true;
    show();
    keep();
    document.getElementById("text").focus({ preventScroll: true });
  });
  addEventListener("hashchange", read);
  window.kvFilter = show;
  read();
})();

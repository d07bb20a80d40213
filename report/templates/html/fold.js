// On a phone the whole report is some seventy screens long. There a section is closed until its
// heading is touched, a link leads into it, or the browser finds a word in it.
(() => {
  const narrow = matchMedia("(max-width: 40rem)");
  const folds = new Map();

  function open(section, shown) {
    const { rest, toggle } = folds.get(section);
    if (shown) rest.removeAttribute("hidden");
    else rest.setAttribute("hidden", "until-found");
    toggle.setAttribute("aria-expanded", String(shown));
  }

  function openAll() {
    for (const section of folds.keys()) open(section, true);
  }

  /** The section that a link leads into is open before the browser goes there. */
  function follow(hash) {
    const goal = document.getElementById(decodeURIComponent(hash.slice(1)));
    const section = goal?.closest("main > section");
    if (!section || !folds.get(section).rest.hasAttribute("hidden")) return;
    open(section, true);
    goal.scrollIntoView();
  }

  for (const section of document.querySelectorAll("main > section")) {
    const heading = section.querySelector("h2");
    const rest = document.createElement("div");
    rest.append(...[...section.children].filter((child) => child !== heading));
    section.append(rest);
    const flip = () => open(section, rest.hasAttribute("hidden"));
    const toggle = window.kvPage.button("", flip);
    toggle.className = "fold";
    const words = [...heading.childNodes].filter((node) => node.className !== "anchor");
    toggle.setAttribute("aria-label", words.map((node) => node.textContent).join("").trim());
    heading.append(toggle);
    heading.addEventListener("click", (event) => {
      if (narrow.matches && !event.target.closest("a, button")) flip();
    });
    rest.addEventListener("beforematch", () => open(section, true));
    folds.set(section, { rest, toggle });
    open(section, !narrow.matches);
  }

  // Nothing closes by itself what is being read.
  narrow.addEventListener("change", openAll);
  addEventListener("beforeprint", openAll);
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link) follow(link.hash);
  });
  addEventListener("hashchange", () => follow(location.hash));
  follow(location.hash);
})();

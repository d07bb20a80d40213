// What the other scripts share, the theme, the menu, and the contents beside the text.
window.kvPage = (() => {
  const root = document.documentElement;
  const words = JSON.parse(document.getElementById("words").textContent);
  const said = document.getElementById("said");
  const night = matchMedia("(prefers-color-scheme: dark)");

  /** `text` with each {name} replaced by the value of that name. */
  function fill(text, values) {
    return text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
  }

  /** A reader's choices in the address: #hide=store:riak&metric=...; any other hash is a place. */
  function kept() {
    const parts = location.hash.slice(1).split("&").map((part) => part.split("="));
    return Object.fromEntries(
      parts.filter(([, value]) => value).map(([name, value]) => [name, decodeURIComponent(value)]),
    );
  }

  /** Change some of them; an empty one is left out. */
  function keep(changes) {
    const choices = Object.entries({ ...kept(), ...changes }).filter(([, value]) => value);
    const text = choices.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
    try {
      // Colons and commas need no escape there, and are easier to read.
      history.replaceState(null, "", `#${text.replaceAll("%3A", ":").replaceAll("%2C", ",")}`);
    } catch {
      // Some browsers keep no state of a file.
    }
  }

  /** Tell it to those who do not see the page. */
  function say(text) {
    said.textContent = text;
  }

  /** What only scripts need: specs, charts, cells; fails where a browser cannot unpack. */
  async function unpack() {
    const bytes = Uint8Array.from(atob(document.getElementById("packed").textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).json();
  }
  const packed = unpack();
  packed.catch((error) => console.warn(error));

  function theme() {
    return root.dataset.theme ?? (night.matches ? "dark" : "light");
  }

  function button(text, act) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.addEventListener("click", act);
    return made;
  }

  const themeButton = document.getElementById("theme");
  function nameTheme() {
    themeButton.textContent = theme() === "dark" ? words.light : words.dark;
  }
  themeButton.hidden = false;
  themeButton.addEventListener("click", () => {
    const wanted = theme() === "dark" ? "light" : "dark";
    root.dataset.theme = wanted;
    try {
      localStorage.setItem("kvstudy-theme", wanted);
    } catch {
      // It holds until the page is closed.
    }
    nameTheme();
    window.kvCharts?.setTheme(wanted);
  });
  night.addEventListener("change", nameTheme);
  nameTheme();

  const menu = document.getElementById("menu");
  const aside = document.getElementById("aside");
  function openMenu(open) {
    aside.classList.toggle("open", open);
    menu.setAttribute("aria-expanded", String(open));
    if (open) aside.querySelector("input, a")?.focus();
  }
  menu.hidden = false;
  menu.addEventListener("click", () => openMenu(!aside.classList.contains("open")));
  aside.addEventListener("click", (event) => event.target.closest("nav a") && openMenu(false));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !aside.classList.contains("open")) return;
    openMenu(false);
    menu.focus();
  });

  // A link to each section and float, for those who cite it.
  for (const goal of document.querySelectorAll("main section[id] > :is(h2, h3, h4), main figure[id]")) {
    const link = document.createElement("a");
    link.className = "anchor";
    link.href = `#${encodeURIComponent(goal.matches("figure") ? goal.id : goal.parentElement.id)}`;
    link.textContent = "#";
    const place = goal.matches("figure") ? goal.querySelector("figcaption") : goal;
    link.setAttribute("aria-label", `${words.link}: ${(place.querySelector(".label") ?? place).textContent}`);
    place.append(link);
  }

  // The section that is read is the last one that begins above a line near the top.
  const links = new Map();
  for (const link of aside.querySelectorAll("nav a")) {
    const goal = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (goal) links.set(goal, link);
  }
  let now = null;
  function mark() {
    let found = null;
    for (const [goal, link] of links) {
      if (!goal.closest("[data-filtered], [hidden]") && goal.getBoundingClientRect().top < 120) found = link;
    }
    if (found === now) return;
    now?.removeAttribute("aria-current");
    found?.setAttribute("aria-current", "true");
    now = found;
    const nav = aside.getBoundingClientRect();
    const place = found?.getBoundingClientRect();
    if (place && (place.top < nav.top + 40 || place.bottom > nav.bottom - 40)) {
      aside.scrollTop += place.top - nav.top - nav.height / 2;
    }
  }
  let waiting = false;
  addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      mark();
    });
  });
  mark();

  // A table that is wider than its place is scrolled by keys too.
  const wide = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  for (const box of document.querySelectorAll(".scroll")) wide.observe(box);

  return { words, fill, say, theme, button, packed, kept, keep };
})();

// Before anything is drawn: the theme that the reader chose before, if it may be kept.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  try {
    const kept = localStorage.getItem("kvstudy-theme");
    if (kept === "light" || kept === "dark") root.dataset.theme = kept;
  } catch {
    // A page from a file may have no storage.
  }
})();

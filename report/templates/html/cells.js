// The cells of a table or figure, listed when they are asked for.
for (const list of document.querySelectorAll("ul[data-cells]")) {
  const line = ([path, sums, why]) => {
    const item = document.createElement("li");
    for (const text of [path, sums]) {
      const code = document.createElement("code");
      code.textContent = text;
      item.append(code, " ");
    }
    item.append(why);
    return item;
  };
  list.parentElement.addEventListener("toggle", async () => {
    const { cells } = await window.kvPage.packed;
    const places = list.dataset.cells.split(" ").map((range) => range.split("-").map(Number));
    const lines = places.flatMap(([first, last = first]) => cells.slice(first, last + 1).map(line));
    list.replaceChildren(...lines);
  }, { once: true });
}

// A reader's choices of what a table shows: the store that it is relative to, and the metric.
window.kvPage.packed.then(({ choices }) => {
  const { words, fill, kept, keep } = window.kvPage;
  const CHOICES = ["relative", "metric"];
  document.querySelectorAll("div.choices").forEach((place, number) => {
    const figure = place.closest("figure");
    const caption = figure.querySelector("figcaption");
    const own = [...caption.childNodes];
    const made = choices[number];
    const selects = words.choices.map((word, which) => {
      const names = new Set(made.map(([chosen]) => chosen[which]));
      const select = document.createElement("select");
      select.autocomplete = "off";
      select.append(...[...names].map((name) => new Option(name)));
      const label = document.createElement("label");
      label.append(`${word} `, select);
      place.append(label);
      return select;
    });
    function show() {
      const chosen = selects.map((select) => select.value);
      const found = made.find(([names]) => names.every((name, which) => name === chosen[which]));
      const shown = document.createElement("template");
      shown.innerHTML = found?.[1] ?? "";
      for (const table of shown.content.querySelectorAll("table")) {
        const box = document.createElement("div");
        box.className = "scroll";
        box.tabIndex = 0;
        table.setAttribute("aria-labelledby", caption.id);
        table.replaceWith(box);
        box.append(table);
      }
      for (const old of figure.querySelectorAll(":scope > :is(.scroll, .notes)")) old.remove();
      place.after(shown.content);
      const [store, metric] = selects.map((select) => select.value);
      const text = ` ${fill(words.chosen, { store, metric })}`;
      const [label, anchor] = [".label", ".anchor"].map((name) => caption.querySelector(name));
      caption.replaceChildren(...(found === made[0] ? own : [label, text, anchor]));
      window.kvNumbers?.(figure);
      window.kvFilter?.();
    }
    // The first table's choices are in the address, so that a link shows the same.
    if (number === 0) {
      selects.forEach((select, which) => {
        const wanted = kept()[CHOICES[which]];
        if ([...select.options].some((option) => option.value === wanted)) select.value = wanted;
      });
      if (selects.some((select) => select.selectedIndex > 0)) show();
      place.addEventListener("change", () => {
        const values = selects.map((select) => (select.selectedIndex > 0 ? select.value : ""));
        keep(Object.fromEntries(CHOICES.map((name, which) => [name, values[which]])));
      });
    }
    place.addEventListener("change", show);
    place.hidden = false;
    // Above what it changes.
    caption.after(place);
  });
}, () => {}); // Else the table stays as it is.

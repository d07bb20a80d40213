// Each number of a table that follows from single runs is a button, and so are marks of charts: it
// shows these runs, their values, and for each the lines of its log and its command.
window.kvPage.packed.then(({ runs }) => {
  if (!runs) return;
  const { words, fill, button } = window.kvPage;
  const dialog = document.createElement("dialog");
  dialog.className = "proof";
  dialog.setAttribute("aria-labelledby", "proof-title");
  document.body.append(dialog);
  // A press beside it closes it, too.
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());

  const element = (name, text = "", kind = "") => {
    const made = document.createElement(name);
    made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };

  const counting = (key) => (runs.values[key] ?? []).filter(([place]) => !runs.cells[place][3]);
  const KINDS = {
    geometric: (all) => Math.exp(all.reduce((sum, each) => sum + Math.log(each), 0) / all.length),
    mean: (all) => all.reduce((sum, each) => sum + each, 0) / all.length,
    min: (all) => Math.min(...all),
    max: (all) => Math.max(...all),
  };

  /** The number again from its runs; null where the page has no formula for it. */
  function recalculated(kind, keys, base) {
    // The mean of the workloads may be of another kind than that of the runs.
    if (keys.some((key) => key.split("/")[1] === "mean")) return null;
    const of = (some) => KINDS[kind]?.(some.flatMap((key) => counting(key).map(([, value]) => value)));
    const value = of(keys);
    return value === undefined ? null : base.length ? value / of(base) : value;
  }

  /** Their names without the parameters, which the paths of the runs have. */
  function formula(keys) {
    const names = keys.map((key) => {
      const [store, workload, , operation, metric] = key.split("/");
      return `${store}/${workload} ${operation} ${metric}`;
    });
    return `(${names.join("; ")})`;
  }

  function rows(key) {
    return (runs.values[key] ?? []).map(([place, value, unit, lines]) => {
      const [path, folder, command, why] = runs.cells[place];
      const row = element("tr");
      const what = element("th", path);
      what.scope = "row";
      if (why) what.append(element("div", `${words.not_counted}: ${why}`, "why"));
      const shown = element("td");
      for (const [file, number, text] of lines) {
        shown.append(element("code", `${folder}/${file}:${number}`, "place"), element("code", text, "line"));
      }
      if (!lines.length) shown.append(fill(words.no_lines, { folder }));
      if (command) {
        const more = element("details");
        more.append(element("summary", words.command), element("code", command));
        shown.append(more);
      }
      row.append(what, element("td", `${value.toLocaleString(words.lang)} ${unit}`, "num"), shown);
      return row;
    });
  }

  function open(of, text) {
    const [kind, ...parts] = of.split("|");
    const [keys, base = []] = parts.map((part) => part.split(" "));
    const title = element("h2", `${words.proof}: ${text}`);
    title.id = "proof-title";
    const about = element("p", `${words.kinds[kind] ?? kind}: ${formula(keys)}`);
    if (base.length) about.append(` \u00f7 ${formula(base)}`);
    const again = recalculated(kind, keys, base);
    if (again !== null && !Number.isNaN(again)) {
      about.append(` = ${again.toLocaleString(words.lang, { maximumSignificantDigits: 6 })}`);
    }
    const table = element("table");
    const head = table.createTHead().insertRow();
    for (const text of [words.run, words.value, words.log_line]) {
      const of = element("th", text);
      of.scope = "col";
      head.append(of);
    }
    table.createTBody().append(...[...keys, ...base].flatMap(rows));
    const box = element("div", "", "scroll");
    box.tabIndex = 0;
    box.append(table);
    dialog.replaceChildren(title, about, box, button(words.close, () => dialog.close()));
    dialog.showModal();
  }

  /** Turn the numbers below `root` into buttons. */
  function mark(root) {
    for (const cell of root.querySelectorAll("td[data-runs]:not(:has(> .number))")) {
      const made = element("button", "", "number");
      made.type = "button";
      made.title = words.proof;
      made.append(...cell.childNodes);
      cell.append(made);
      made.addEventListener("click", () => open(cell.dataset.runs, cell.textContent));
    }
  }
  mark(document);
  document.addEventListener("kv-mark", ({ detail }) => open(detail.runs, detail.text));
  // Tables that a choice puts in place of others.
  window.kvNumbers = mark;
}, () => {}); // Else the numbers stay as they are.

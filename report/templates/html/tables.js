// Tables of class "sortable": a button in the head of each column. Rows that a cell spans stay
// together, and the rows below a title stay below it. The third press gives the first order back.
(() => {
  const { words, fill, say } = window.kvPage;
  const NUMBER = /^[^\d−+-]{0,3}([−+-]?)(\d[\d\u202f\u00a0\u2009]*)(?:[.,](\d+))?/;
  const collator = new Intl.Collator(document.documentElement.lang, { numeric: true });

  /** The number that a cell begins with; NaN where there is none. */
  function number(cell) {
    if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
    const found = NUMBER.exec(cell.textContent.trim());
    if (!found) return NaN;
    const digits = `${found[2].replace(/\D/g, "")}.${found[3] ?? "0"}`;
    return Number(digits) * (found[1] === "−" || found[1] === "-" ? -1 : 1);
  }

  /** The cells of the head that stand right above one column, by their column. */
  function heads(table) {
    const found = [];
    const taken = [];
    const rows = [...table.tHead.rows];
    rows.forEach((row, at) => {
      let column = 0;
      for (const cell of row.cells) {
        while ((taken[column] ?? 0) > at) column += 1;
        for (let each = 0; each < cell.colSpan; each += 1) taken[column + each] = at + cell.rowSpan;
        if (cell.colSpan === 1 && at + cell.rowSpan === rows.length) found.push([cell, column]);
        column += cell.colSpan;
      }
    });
    return found.filter(([cell]) => cell.textContent.trim());
  }

  /** Rows that belong together, in lists between the titles of sections. */
  function sections(table) {
    const found = [];
    for (const body of table.tBodies) {
      let units = null;
      let left = 0;
      for (const row of body.rows) {
        if (row.matches(".section")) {
          units = null;
          continue;
        }
        if (!units) found.push({ body, units: (units = []), end: null });
        if (left > 0) units.at(-1).push(row);
        else units.push([row]);
        left = Math.max(left, ...[...row.cells].map((cell) => cell.rowSpan)) - 1;
        found.at(-1).end = row.nextElementSibling;
      }
    }
    return found;
  }

  function cellAt(row, column) {
    let at = 0;
    for (const cell of row.cells) {
      if (at <= column && column < at + cell.colSpan) return cell;
      at += cell.colSpan;
    }
    return null;
  }

  function compare(column, sign) {
    return (units) => {
      const known = units.map((rows, place) => {
        const cell = cellAt(rows[0], column);
        return { rows, place, text: cell?.textContent.trim() ?? "", value: cell ? number(cell) : NaN };
      });
      // A column of words may hold some numbers.
      const spoken = known.filter(({ text }) => /[\p{L}\d]/u.test(text));
      const byNumber = spoken.filter(({ value }) => !Number.isNaN(value)).length * 2 >= spoken.length;
      const missing = ({ text, value }) => (byNumber ? Number.isNaN(value) : !/[\p{L}\d]/u.test(text));
      const order = (a, b) => {
        if (missing(a) || missing(b)) return missing(a) - missing(b) || a.place - b.place;
        const by = byNumber ? Math.sign(a.value - b.value) : collator.compare(a.text, b.text);
        return sign * by || a.place - b.place;
      };
      return known.sort(order).map(({ rows }) => rows);
    };
  }

  // On a phone the claims have no head above their columns.
  for (const table of document.querySelectorAll("table:is(.claims, .scoreboard)")) {
    table.classList.add("stacked");
    for (const [head, column] of heads(table)) {
      for (const body of table.tBodies) {
        for (const row of body.rows) {
          const cell = cellAt(row, column);
          if (cell) cell.dataset.label = head.textContent.trim();
        }
      }
    }
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    if (!table.tHead) continue;
    const parts = sections(table);
    if (!parts.some(({ units }) => units.length > 1)) continue;
    const all = heads(table);
    for (const [head, column] of all) {
      const name = head.textContent.trim();
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.title = words.sort;
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const next = { none: "descending", descending: "ascending", ascending: "none" };
        const order = next[head.getAttribute("aria-sort") ?? "none"];
        for (const [other] of all) other.removeAttribute("aria-sort");
        if (order !== "none") head.setAttribute("aria-sort", order);
        const arrange = order === "none" ? (units) => units : compare(column, order === "ascending" ? 1 : -1);
        for (const { body, units, end } of parts) {
          for (const row of arrange(units).flat()) body.insertBefore(row, end);
        }
        say(fill(words[order], { column: name }));
      });
    }
  }
})();

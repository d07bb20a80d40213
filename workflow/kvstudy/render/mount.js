// Charts of a page: takes the panels of a specification apart, so that each has the width that
// there is, draws the legend as HTML, follows the page's theme, and hides stores and workloads.
//
//   kvCharts.mount(element, spec)                      a chart into an empty element
//   kvCharts.hide({stores: [...], workloads: [...]})   in all charts; the rest is shown
//   kvCharts.setTheme("light" | "dark" | "auto")
//
// A press on a mark that is made of runs dispatches the event kv-mark with these and its value.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const charts = [];
  let hidden = { stores: [], workloads: [] };
  let wanted = "auto";
  const night = window.matchMedia("(prefers-color-scheme: dark)");
  const theme = () => (wanted !== "auto" ? wanted : night.matches ? "dark" : "light");

  function node(name, attributes, ...children) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  function pattern(id, color, lines) {
    if (document.getElementById(id)) return;
    let home = document.getElementById("kv-patterns");
    if (!home) {
      home = node("svg", { id: "kv-patterns", width: 0, height: 0, "aria-hidden": "true" });
      home.style.position = "absolute";
      document.body.append(home);
    }
    home.append(
      node(
        "pattern",
        { id, width: 6, height: 6, patternUnits: "userSpaceOnUse" },
        node("rect", { width: 6, height: 6, fill: color }),
        node("path", {
          d: lines,
          stroke: color === "none" ? "#8c8c8c" : "white",
          "stroke-width": lines.includes("h0.01") ? 1.6 : 0.9,
          "stroke-linecap": "round",
          fill: "none",
        }),
      ),
    );
  }

  function swatch(entry) {
    const box = node("svg", { width: 26, height: 14, "aria-hidden": "true" });
    const color = entry.color;
    if (entry.hatch !== undefined) {
      const fill = entry.hatch ? `url(#kv-${entry.store})` : color;
      box.append(node("rect", { x: 1, y: 1, width: 24, height: 12, fill }));
      return box;
    }
    if (entry.dash) {
      const stroke = { stroke: color, "stroke-width": 2, "stroke-dasharray": entry.dash.join(" ") };
      box.append(node("line", { x1: 0, y1: 7, x2: 26, y2: 7, ...stroke }));
    }
    if (entry.shape) {
      const place = { d: entry.shape, transform: "translate(13 7) scale(4.5)" };
      const look = { fill: entry.hollow ? "none" : color, stroke: color, "stroke-width": 0.3 };
      box.append(node("path", { ...place, ...look }));
    }
    return box;
  }

  function legend(entries) {
    const list = document.createElement("ul");
    list.className = "kv-legend";
    for (const entry of entries) {
      if (entry.hatch) pattern(`kv-${entry.store}`, entry.color, entry.hatch);
      const item = document.createElement("li");
      if (entry.store) item.dataset.store = entry.store;
      item.append(swatch(entry), entry.label);
      list.append(item);
    }
    return list;
  }

  function withoutLegend(view) {
    for (const channel of Object.values(view.encoding ?? {})) {
      if (channel.legend) channel.legend = null;
    }
    view.layer?.forEach(withoutLegend);
  }

  // Each panel as a specification of its own, as wide as its container.
  function apart(spec) {
    const { concat, transform = [], data, params, $schema } = spec;
    const config = window.kvThemes[theme()];
    return concat.map((panel) => {
      const { title, ...rest } = panel;
      const all = [...transform, ...(panel.transform ?? [])];
      const own = structuredClone({ ...rest, transform: all, data, params });
      withoutLegend(own);
      return [title, { $schema, ...own, config, width: "container" }];
    });
  }

  async function draw(chart) {
    const { element, spec } = chart;
    for (const result of chart.results) result.finalize();
    chart.results = [];
    element.replaceChildren();
    element.classList.add("kv-chart");
    const { labels, legend: entries, note, empty, nothing } = spec.usermeta.kvstudy;
    if (entries.length) element.append(legend(entries));
    const grid = document.createElement("div");
    grid.className = "kv-panels";
    grid.style.setProperty("--kv-columns", spec.columns);
    element.append(grid);
    pattern("kv-nothing", "none", nothing);
    // All places first: a panel takes the width that it has when it is drawn.
    const panels = (empty ? [] : apart(spec)).map(([title, panel]) => {
      const place = document.createElement("div");
      place.className = "kv-panel";
      if (title) {
        const head = document.createElement("p");
        head.className = "kv-title";
        head.append([title].flat().join("\n"));
        place.append(head);
      }
      const box = document.createElement("div");
      place.append(box);
      grid.append(place);
      return [box, panel];
    });
    if (note) {
      const words = document.createElement("p");
      words.className = "kv-note";
      words.append(note);
      element.append(words);
    }
    // Interpreted, for a page may forbid code that is made from text.
    const options = {
      renderer: "svg", actions: false, mode: "vega-lite", ast: true, tooltip: { theme: theme() },
    };
    for (const [box, panel] of panels) {
      const result = await window.vegaEmbed(box, panel, options);
      result.view.addEventListener("click", (_event, item) => {
        const datum = item?.datum ?? {};
        const runs = datum.made_of;
        const text = labels.map(([name]) => datum[name]).find(Boolean) ?? datum.title;
        const detail = { runs, text };
        if (runs) element.dispatchEvent(new CustomEvent("kv-mark", { bubbles: true, detail }));
      });
      chart.results.push(result);
    }
    await show(chart);
  }

  async function show(chart) {
    for (const { view } of chart.results) {
      await view.signal("kv_stores", hidden.stores).signal("kv_workloads", hidden.workloads).runAsync();
    }
    for (const item of chart.element.querySelectorAll(".kv-legend li[data-store]")) {
      item.hidden = hidden.stores.includes(item.dataset.store);
    }
    // As the specification's own filter.
    const hides = ({ store, other, workload }) =>
      hidden.stores.includes(store) || hidden.stores.includes(other) || hidden.workloads.includes(workload);
    const panels = [...chart.element.querySelectorAll(".kv-panel")];
    const before = panels.filter((panel) => panel.hidden).length;
    for (const [number, panel] of panels.entries()) {
      const rows = chart.spec.data.values.filter((row) => row.panel === number);
      panel.hidden = rows.length > 0 && rows.every(hides);
    }
    const after = panels.filter((panel) => panel.hidden).length;
    chart.element.hidden = panels.length > 0 && after === panels.length;
    // Those that stay take the room.
    if (after !== before) window.dispatchEvent(new Event("resize"));
  }

  // One after the other: drawing twice at a time would mix up a chart's panels.
  let last = Promise.resolve();
  const queue = (work) => {
    const done = last.then(work);
    last = done.catch(() => {}); // A chart that fails leaves the others alone.
    return done;
  };
  const redraw = () => queue(async () => { for (const chart of charts) await draw(chart); });
  night.addEventListener("change", () => wanted === "auto" && redraw());

  window.kvCharts = {
    mount(element, spec) {
      const chart = { element, spec, results: [] };
      charts.push(chart);
      return queue(() => draw(chart)).then(() => chart.results.map(({ view }) => view));
    },
    hide({ stores = [], workloads = [] }) {
      hidden = { stores, workloads };
      return queue(async () => { for (const chart of charts) await show(chart); });
    },
    setTheme(name) {
      wanted = name;
      return redraw();
    },
  };
})();

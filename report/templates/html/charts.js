// Interactive charts in place of the static drawings, made when they come near. Print, and a
// reader who asks for it, get the static drawing.
window.kvPage.packed.then(({ charts, specs }) => {
  if (!charts) return;
  const script = document.createElement("script");
  script.textContent = charts;
  document.head.append(script);
  const { words, button, theme } = window.kvPage;
  const root = document.documentElement;
  if (root.dataset.theme) window.kvCharts.setTheme(theme());

  function begin(drawing) {
    const spec = specs[drawing.dataset.figure];
    const place = document.createElement("div");
    place.className = "interactive";
    drawing.append(place);
    drawing.classList.add("live");
    const { store = [], workload = [] } = spec.usermeta?.kvstudy ?? {};
    drawing.kvLacks = (stores, workloads) =>
      store.some((name) => stores.includes(name)) || workload.some((name) => workloads.includes(name));
    const tools = document.createElement("p");
    tools.className = "tools";
    const change = button(words.static, () => {
      const live = drawing.classList.toggle("live");
      change.textContent = live ? words.static : words.interactive;
      window.kvFilter?.();
    });
    tools.append(change);
    drawing.append(tools);
    window.kvCharts.mount(place, spec).then(
      () => window.kvFilter?.(),
      (error) => {
        console.error(error);
        place.remove();
        tools.remove();
        drawing.classList.remove("live");
      },
    );
  }

  const near = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        near.unobserve(target);
        begin(target);
      }
    },
    { rootMargin: "600px 0px" },
  );
  for (const drawing of document.querySelectorAll(".drawing")) {
    if (drawing.dataset.figure in specs) near.observe(drawing);
  }
}, () => {}); // Else the drawings stay.

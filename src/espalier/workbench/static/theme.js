// Light or dark, before the first paint: this small script is loaded in the head, without waiting for the modules.
(() => {
  try {
    const chosen = localStorage.getItem("espalier-theme");
    if (chosen) document.documentElement.dataset.theme = chosen;
  } catch {
    // A browser that keeps nothing: the theme is the system's.
  }
})();

// Runs before the first paint.  A theme that was chosen is in the browser's storage, which may be shut off.
try {
  const theme = localStorage.getItem("nudge.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch { /* the system's theme it is */ }

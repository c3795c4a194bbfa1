// A box above each long table shows only the rows that have a text.
const LEAST_ROWS = 8;

for (const scroll of document.querySelectorAll(".scroll")) {
  const rows = [...scroll.querySelectorAll("tbody tr")];
  if (rows.length < LEAST_ROWS) continue;
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const label = document.createElement("label");
  const input = document.createElement("input");
  const count = document.createElement("span");
  label.className = "search";
  input.type = "search";
  input.placeholder = "Search in these rows";
  input.setAttribute("aria-label", "Search in these rows");
  count.setAttribute("role", "status");
  label.append(input, " ", count);
  scroll.before(label);
  input.addEventListener("input", () => {
    const text = input.value.trim().toLowerCase();
    let found = 0;
    rows.forEach((row, place) => {
      row.hidden = !texts[place].includes(text);
      if (!row.hidden) found += 1;
    });
    count.textContent = text ? `${found} of ${rows.length} shown rows` : "";
  });
}

function render({ model, el }) {
  const link = connect(model, el);
  const rows = rowTable(link, model.get("height"));
  const follow = () => rows.setHeight(model.get("height"));
  link.root.append(rows.element);
  model.on("change:height", follow);
  return () => {
    model.off("change:height", follow);
    link.close();
  };
}
export default { render };

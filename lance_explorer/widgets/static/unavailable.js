// In the place of a view that could not be made: the failure, and a button to try again.

function render({ model, el }) {
  const link = connect(model, el);
  link.ask("make");
  return link.close;
}

export default { render };

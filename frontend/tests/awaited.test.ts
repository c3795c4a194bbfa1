import { expect, test, vi } from "vitest";
import type { Model, Traits } from "../src/model";
import { VIEWS } from "../src/views";

const TRAITS: Traits = {
  shows: "",
  shared: { version: null, compared_version: null, fragment_id: null, row_id: null, filter: "", revision: 0 },
  label: "",
  opens: [],
  height: 10,
  kind: "data_files",
  address: { text: "", step: 0 },
  place: { view: "overview", can_go_back: false, can_go_forward: false },
  database_place: { view: "tables", table: null },
  live: { is_on: false, wait: 0, news: "", note: "", latest: "1" },
  parts: {},
};

/** A model that answers nothing. */
const SILENT: Model = {
  get: (name) => TRAITS[name],
  send() {},
  on() {},
  off() {},
};

/** What would say that there is nothing, if it were seen before its answer. */
const EMPTY = "table, select, .lx-legend:empty, .lx-cards:empty, [role=listbox], [role=grid], [role=tablist]";

const paper = { scale() {}, setTransform() {}, clearRect() {} };
vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue(paper as unknown as null);
vi.stubGlobal("matchMedia", () => ({ addEventListener() {}, removeEventListener() {} }));

for (const name of Object.keys(VIEWS))
  test(`${name} shows nothing empty before its first answer`, () => {
    const el = document.createElement("div");
    const close = VIEWS[name]({ model: SILENT, el });
    const seen = [...el.querySelectorAll(EMPTY)].filter(
      (part) => !part.closest("[hidden], .lx-unread > *, .lx-rows-coming > .lx-bar, .lx-rows-coming > .lx-rows-grid"),
    );
    close();
    expect(seen.map((part) => part.outerHTML)).toEqual([]);
  });

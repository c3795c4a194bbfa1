// The address of what an explorer shows: the part of a link after #. Python writes and reads it.

import { toClipboard } from "./clipboard";
import type { Link } from "./link";
import type { WholeQuestions } from "./messages";
import type { Model } from "./model";

/** The page that an explorer is on, where it has an address of its own. */
export interface PageAddress {
  /** The address that was asked for, "" for none. */
  now: () => string;
  /** Show another one, as a step that one can go back from or in place of the one before. */
  show: (address: string, isStep: boolean) => void;
  /** The whole link to an address. */
  link: (address: string) => string;
  /** Calls a listener when somebody goes to another address. */
  onMove: (listener: () => void) => void;
}

/** Keep the address of a page up to date, and show what it is changed to. `copy` is null where there is none. */
export function followAddress(link: Link<WholeQuestions>, model: Model) {
  const page = model.get("page");
  if (!page) return { copy: null };
  let step = Number.POSITIVE_INFINITY;
  let isVisiting = false;

  function show() {
    const newest = model.get("address");
    page?.show(newest.text, newest.step > step && !isVisiting);
    step = newest.step;
  }

  async function visit() {
    isVisiting = true;
    await link.ask("visit", { address: page?.now() ?? "" }, (failure, showIt) => {
      isVisiting = false;
      showIt(failure);
    });
    isVisiting = false;
  }

  model.on("change:address", show);
  page.onMove(visit);
  if (page.now()) visit();
  else show();
  return {
    /** Copy the link to what is shown; the answer is whether the browser allowed that. */
    async copy() {
      const { text } = await link.ask("link");
      return toClipboard(page.link(text));
    },
  };
}

/** The address of a page of its own, after the # of its URL. */
export const OWN_PAGE: PageAddress = {
  now: () => location.hash.slice(1),
  show: (address, isStep) => history[isStep ? "pushState" : "replaceState"](null, "", `#${address}`),
  link: (address) => `${location.href.split("#")[0]}#${address}`,
  onMove: (listener) => window.addEventListener("popstate", listener),
};

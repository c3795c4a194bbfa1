// The rows of a grid that are here, and what is asked of Python as others come in sight.

import type { Link } from "./link";
import type { GridViewQuestions, RowsPage } from "./messages";

/** A page that is on its way. */
interface AskedPage {
  at: number;
  first: number;
  last: number;
  isFailed?: boolean;
}

/** Rows in sight, and how many are asked for above and below them. */
export interface Wanted {
  first: number;
  last: number;
  around: number;
}

const PATIENCE = 400; // ms, after which another page may be asked for before one has come

/**
 * Gives `page()`, null until there is one; `fetch(isForced)` asks for what is `wanted` and not here,
 * `forget()` drops what is. `onPage` is told that a page is here.
 */
export function rowPages(link: Link<GridViewQuestions>, wanted: () => Wanted | null, onPage: () => void) {
  let page: RowsPage | null = null;
  let asked: AskedPage | null = null;

  async function fetch(isForced = false) {
    const rows = wanted();
    if (!rows || (!isForced && (isHere(page, rows) || isAwaited(rows)))) return;
    const { first, last, around } = rows;
    const from = Math.max(0, first - around);
    const mine: AskedPage = { at: performance.now(), first: from, last: last + around };
    asked = mine;
    setTimeout(() => {
      if (asked === mine && !mine.isFailed) fetch();
    }, PATIENCE);
    const got = await link.ask("page", { first: from, count: mine.last - from }, (failure, show) => {
      mine.isFailed = true; // until somebody tries again, or scrolls
      show(failure);
    });
    if (asked !== mine) return;
    asked = null;
    page = got;
    onPage();
    fetch();
  }

  function isAwaited({ first, last }: Wanted) {
    if (!asked) return false;
    const isComing = !asked.isFailed && asked.first <= first && asked.last >= last;
    return isComing || performance.now() - asked.at < PATIENCE;
  }

  return {
    page: () => page,
    fetch,
    forget() {
      page = null;
      asked = null;
    },
  };
}

/** Whether a page has all rows that are wanted. */
export function isHere(page: Pick<RowsPage, "first" | "positions"> | null, { first, last }: Wanted) {
  return page !== null && page.first <= first && page.first + page.positions.length >= last;
}

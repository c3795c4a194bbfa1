// The bar above a lineage picture: the box for a row, and what moves the picture.

import type { Link } from "./link";
import type { LineageAbout } from "./messages";
import { Refresh } from "./reactive";
import { RowBox } from "./row_box";
import { Total } from "./version_words";

interface BarProps {
  link: Link;
  about: LineageAbout | null;
  /** The row that is drawn. */
  row: string | null;
  onRow: (text: string) => void;
  onZoom: (factor: number) => void;
  onFit: () => void;
  onRefresh: () => void;
}

export function LineageBar({ link, about, row, onRow, onZoom, onFit, onRefresh }: BarProps) {
  const zoom = (text: string, title: string, factor: number) => (
    <button class="lx-button lx-square" title={title} aria-label={title} onClick={() => onZoom(factor)}>
      {text}
    </button>
  );
  return (
    <div class="lx-toolbar">
      <RowBox name="Follow row" hasRowIds={about?.has_row_ids ?? true} row={row} onRow={onRow} />
      {row !== null && (
        <button class="lx-button" title="Draw no row" onClick={() => link.setState({ row_id: null })}>
          Clear row
        </button>
      )}
      <Total of={about} />
      <span class="lx-lineage-zoom">
        {zoom("−", "Zoom out", 1 / 1.6)}
        {zoom("+", "Zoom in", 1.6)}
        <button class="lx-button" title="See everything" onClick={onFit}>
          Fit
        </button>
        <Refresh link={link} onClick={onRefresh} />
      </span>
    </div>
  );
}

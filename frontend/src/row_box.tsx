// The box for a row: what it has, its row ID, or an address that it had.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface RowBoxProps {
  /** Of the button beside it. */
  name: string;
  hasRowIds: boolean;
  /** A column to name a row by, where that is understood. */
  example?: string;
  /** The row that is shown. */
  row: string | null;
  onRow: (text: string) => void;
  /** The arrow keys go to the next row, or to the one before. */
  onStep?: (direction: number) => void;
}

/** The box, and what `after` it stands before its button. What is being typed stays until another row is shown. */
export function RowBox({
  name,
  hasRowIds,
  example,
  row,
  onRow,
  onStep,
  after,
}: RowBoxProps & { after?: ComponentChildren }) {
  const box = useRef<HTMLInputElement>(null);
  const shown = useRef("");
  useLayoutEffect(() => {
    const text = row ?? "";
    if (box.current && (text || box.current.value === shown.current)) box.current.value = text;
    shown.current = text;
  }, [row]);
  const show = () => box.current?.value.trim() && onRow(box.current.value);
  function pressed(event: KeyboardEvent) {
    event.stopPropagation();
    if (event.key === "Enter") show();
    else if (onStep && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
      event.preventDefault();
      onStep(event.key === "ArrowUp" ? 1 : -1);
    }
  }
  return (
    <>
      <input
        ref={box}
        class="lx-input lx-row-box"
        type="text"
        aria-label={`Row ID, ${example ? "value, " : ""}or address as fragment:offset`}
        placeholder={
          example
            ? `${example} = 42, or ${hasRowIds ? "row ID" : "3:17"}`
            : hasRowIds
              ? "row ID, or address 3:17"
              : "3:17"
        }
        spellcheck={false}
        maxLength={100}
        onKeyDown={pressed}
      />
      {after}
      <button class="lx-button" onClick={show}>
        {name}
      </button>
    </>
  );
}

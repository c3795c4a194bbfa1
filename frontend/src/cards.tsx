import "./cards.css";
import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { placeClass } from "./reactive";

/** One number, what it is, and what else there is to say of it. */
export function factCard(label: string, value: string, ...details: (string | null)[]) {
  return (
    <div class="lx-card">
      <div class="lx-quiet">{label}</div>
      <div class="lx-card-value">{value}</div>
      {details.map((detail) => detail && <div class="lx-quiet lx-card-detail">{detail}</div>)}
    </div>
  );
}

interface PanelProps {
  title: string;
  beside?: ComponentChildren;
  children: ComponentChildren;
  /** There is nothing to show yet. */
  isWaiting?: boolean;
}

/** A part of a view under a title, with what stands beside that. */
export function Panel({ title, beside, children, isWaiting }: PanelProps) {
  return (
    <section class={placeClass("lx-part", !isWaiting)} aria-label={title}>
      <div class="lx-part-head">
        <h4>{title}</h4>
        {beside}
      </div>
      {children}
    </section>
  );
}

interface ChoicesProps<Name> {
  label: string;
  /** What may be chosen, by name. */
  of: Record<Name & string, string>;
  chosen: Signal<Name>;
  /** What a choice does besides. */
  onChoose?: (name: Name) => void;
}

/** Buttons of which one is pressed. */
export function Choices<Name extends string>({ label, of, chosen, onChoose }: ChoicesProps<Name>) {
  const choose = (name: Name) => {
    chosen.value = name;
    onChoose?.(name);
  };
  return (
    <div class="lx-choices" role="group" aria-label={label}>
      {(Object.entries(of) as [Name, string][]).map(([name, text]) => (
        <button class="lx-choice" data-choice={name} aria-pressed={name === chosen.value} onClick={() => choose(name)}>
          {text}
        </button>
      ))}
    </div>
  );
}

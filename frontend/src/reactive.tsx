// Views that follow signals, and what stands within them that is drawn by hand.

import { effect, type ReadonlySignal, type Signal, useSignal } from "@preact/signals";
import { type ComponentChildren, options, render, type VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { toClipboard } from "./clipboard";
import { connect, type Link, type Questions } from "./link";
import type { Changes, ViewQuestions } from "./messages";
import type { View } from "./model";
import { visible } from "./text";

// What a change of a signal draws is there when the change returns: what follows may scroll or take the keyboard.
options.debounceRendering = (draw) => draw();

/** What a view is set up with. */
export interface Setting<Asked extends Questions<Asked> = ViewQuestions> extends View {
  link: Link<Asked>;
  onClose: (end: () => void) => void;
  /** Close what is drawn by hand with the view. */
  keep: <Picture extends { close: () => void }>(picture: Picture) => Picture;
  /** Do it now, and again whenever a signal changes that was read for it. */
  follow: (act: () => void) => void;
  /** Draw a value as soon as there is one, and every newer one. */
  show: <Value>(value: ReadonlySignal<Value | null>, draw: (value: Value) => void) => void;
  /** Show nothing of the view, but its place, until there is a value. */
  awaits: (value: ReadonlySignal<unknown>) => void;
}

/**
 * Return the `render` of a view: `setUp` runs once and gives what draws it, which is drawn again as the signals
 * change that it has read.
 */
export function view<Asked extends Questions<Asked>>(style: string, setUp: (setting: Setting<Asked>) => () => VNode) {
  return ({ model, el }: View) => {
    const link = connect<Asked>(model, el);
    const ends: (() => void)[] = [];
    const onClose = (end: () => void) => ends.push(end);
    const keep: Setting["keep"] = (picture) => {
      onClose(picture.close);
      return picture;
    };
    link.root.classList.add("lx-box", ...style.split(" "));
    const follow: Setting["follow"] = (act) => onClose(effect(() => void act()));
    const Body = setUp({
      model,
      el,
      link,
      onClose,
      keep,
      follow,
      show: (value, draw) => follow(() => value.value !== null && draw(value.value)),
      awaits: (value) => follow(() => link.root.classList.toggle("lx-unread", value.value === null)),
    });
    render(<Body />, link.root);
    return () => {
      render(null, link.root);
      for (const end of ends) end();
      link.close();
    };
  };
}

export function set<Value>(signal: Signal<Value>, value: Value) {
  signal.value = value;
}

/** An element that is drawn by hand, in its place. */
export function Held({ element }: { element: Node }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => place.current?.replaceChildren(element), [element]);
  return <div class="lx-held" ref={place} />;
}

/** A picture that is drawn by hand: made once, and closed with what shows it. */
export function usePicture<Picture extends { close: () => void }>(make: () => Picture) {
  const [picture] = useState(make);
  useEffect(() => picture.close, []);
  return picture;
}

/** The newest value, for what was made with an earlier one. */
export function useNewest<Value>(value: Value) {
  const newest = useRef(value);
  newest.current = value;
  return newest;
}

/** A name that no other element has. */
export function useName() {
  return useState(() => `lx-${Math.random().toString(36).slice(2)}`)[0];
}

/** What disables a control that needs Python where there is none, and says why. */
export function needing({ offline }: Link) {
  return offline ? { disabled: true, title: offline } : {};
}

interface LeadToProps {
  link: Link;
  view: string;
  changes?: Changes;
  title?: string;
  children: ComponentChildren;
}

/** A button that shows another view, and changes the state; nothing if there is no such view. */
export function LeadTo({ link, view, changes, title, children }: LeadToProps) {
  if (!link.canOpen(view)) return null;
  return (
    <button class="lx-button lx-small" title={title} onClick={() => link.open(view, changes)}>
      {children}
    </button>
  );
}

/** A button that asks the explorer a question; nothing outside of one. */
export function AskExplorer({
  link,
  question,
  children,
}: {
  link: Link;
  question: string;
  children: ComponentChildren;
}) {
  if (!link.canOpen("log")) return null;
  const ask = () => link.root.dispatchEvent(new CustomEvent("lx-ask", { bubbles: true, detail: question }));
  return (
    <button class="lx-button lx-small" title={visible(question)} onClick={ask} {...needing(link)}>
      {children}
    </button>
  );
}

/** The button that looks for new versions. */
export function Refresh({ link, onClick }: { link: Link; onClick: () => void }) {
  return (
    <button class="lx-button" title="Look for new versions" onClick={onClick} {...needing(link)}>
      Refresh
    </button>
  );
}

/** The classes of what waits for its first answer, or shows one that is not the newest. */
export function placeClass(style: string, isHere: boolean, isOld = false) {
  return `${style}${isHere ? "" : " lx-unread"}${isOld ? " lx-stale" : ""}`;
}

/** A button that copies text, and says whether it did. */
export function CopyButton({ text, title, children }: { text: string; title: string; children: string }) {
  const words = useSignal(children);
  const copy = async () => set(words, (await toClipboard(text)) ? "Copied" : "Select it to copy");
  return (
    <button class="lx-button lx-small" title={title} onClick={copy}>
      {words}
    </button>
  );
}

/** A button that copies the link to what is shown. */
export function CopyLink({ copy }: { copy: () => Promise<boolean> }) {
  const words = useSignal("Copy link");
  const press = async () => set(words, (await copy()) ? "Copied" : "Copy it from the address bar");
  return (
    <button class="lx-button lx-small" title="Copy the link to what is shown" onClick={press}>
      {words}
    </button>
  );
}

/** A sentence about what was asked, or nothing. */
export function Note({ role = "alert", children }: { role?: "alert" | "status"; children: ComponentChildren }) {
  return children ? (
    <div class="lx-note" role={role}>
      {children}
    </div>
  ) : null;
}

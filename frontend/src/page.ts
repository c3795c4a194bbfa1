// A page of its own, without a notebook: its model speaks to Python over a WebSocket.

import "./page.css";
import { fill, node } from "./elements";
import type { Model, Traits } from "./model";
import { visible } from "./text";
import { VIEWS } from "./views";

type Listener = (content: never, buffers: DataView[]) => void;

/** What comes from Python; as many buffers follow as it says. */
interface Message {
  method: "update" | "custom" | "failure";
  state?: Partial<Traits>;
  content?: unknown;
  num_buffers: number;
}

/** The model of the page: `open` is called when it has its traits, `lost` when Python is gone. */
class PageModel implements Model {
  private readonly socket: WebSocket;
  private readonly listeners = new Map<string, Set<Listener>>();
  private traits: Partial<Traits> = {};
  private message: Message | null = null;
  private buffers: DataView[] = [];

  constructor(address: URL, opened: () => void, lost: (why: string) => void) {
    let isOpen = false;
    let failure = "";
    this.socket = new WebSocket(address);
    this.socket.binaryType = "arraybuffer";
    this.socket.addEventListener("close", () => lost(failure));
    this.socket.addEventListener("message", ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (typeof data === "string") this.message = JSON.parse(data);
      else this.buffers.push(new DataView(data));
      if (!this.message || this.buffers.length < this.message.num_buffers) return;
      const [message, buffers] = [this.message, this.buffers];
      this.message = null;
      this.buffers = [];
      if (message.method === "failure") {
        failure = String(message.content);
        return;
      }
      this.take(message, buffers);
      if (!isOpen) opened();
      isOpen = true;
    });
  }

  private take({ method, state, content }: Message, buffers: DataView[]) {
    if (method === "custom") {
      this.tell("msg:custom", content, buffers);
      return;
    }
    this.traits = { ...this.traits, ...state };
    for (const name of Object.keys(state ?? {})) this.tell(`change:${name}`);
  }

  private tell(event: string, content?: unknown, buffers: DataView[] = []) {
    for (const listener of [...(this.listeners.get(event) ?? [])]) listener(content as never, buffers);
  }

  get<Name extends keyof Traits>(name: Name): Traits[Name] {
    return this.traits[name] as Traits[Name];
  }

  send(content: unknown) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(content));
  }

  close() {
    this.socket.close();
  }

  on(event: string, listener: Listener) {
    this.listeners.set(event, (this.listeners.get(event) ?? new Set()).add(listener));
  }

  off(event: string, listener: Listener) {
    this.listeners.get(event)?.delete(listener);
  }
}

const ENDED = "lance-explorer has ended. Start it again in the terminal, and open the address that it prints.";

/** Show the widget that a WebSocket speaks for; return what ends that. `ended` is said when Python is gone. */
export function openPage(root: HTMLElement, address: URL, ended = ENDED) {
  const gone = node("div", { class: "lx-page-gone", role: "alert", hidden: true });
  const place = node("div");
  root.append(gone, place);
  const model = new PageModel(
    address,
    () => VIEWS[model.get("shows")]({ model, el: place }),
    (why) => {
      fill(gone, why ? visible(why) : ended);
      gone.hidden = false;
      place.inert = true;
    },
  );
  return () => model.close();
}

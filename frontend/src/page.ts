// A page of its own, without a notebook: its model speaks to Python over a WebSocket.

import "./page.css";
import { OWN_PAGE, type PageAddress } from "./address";
import { fill, node } from "./elements";
import { LocalModel } from "./local_model";
import type { PageMessage, Question, ViewMessage } from "./messages";
import type { Traits } from "./model";
import { visible } from "./text";
import { VIEWS } from "./views";

/** The model of the page: `open` is called when it has its traits, `lost` when Python is gone. */
class PageModel extends LocalModel {
  private readonly socket: WebSocket;
  private message: PageMessage | null = null;
  private buffers: DataView[] = [];

  constructor(address: URL, page: PageAddress, opened: () => void, lost: (why: string) => void) {
    super();
    this.traits.page = page;
    let isOpen = false;
    let failure = "";
    this.socket = new WebSocket(address);
    this.socket.binaryType = "arraybuffer";
    this.socket.addEventListener("close", () => lost(failure));
    this.socket.addEventListener("message", ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (typeof data === "string") this.message = JSON.parse(data);
      else this.buffers.push(new DataView(data));
      if (!this.message || this.buffers.length < this.message.num_buffers) return;
      const [{ method, state, content }, buffers] = [this.message, this.buffers];
      this.message = null;
      this.buffers = [];
      if (method === "failure") {
        failure = String(content);
        return;
      }
      if (method === "custom") this.tell("msg:custom", content as ViewMessage, buffers);
      else this.set(state as Partial<Traits>);
      if (!isOpen) opened();
      isOpen = true;
    });
  }

  send(question: Question) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(question));
  }

  close() {
    this.socket.close();
  }
}

const ENDED = "lance-explorer has ended. Start it again in the terminal, and open the address that it prints.";

/**
 * Show the widget that a WebSocket speaks for; return what ends that. `ended` is said when Python is gone, `page` has
 * the address of what is shown.
 */
export function openPage(root: HTMLElement, address: URL, ended = ENDED, page = OWN_PAGE) {
  const gone = node("div", { class: "lx-page-gone", role: "alert", hidden: true });
  const place = node("main");
  root.append(gone, place);
  const model = new PageModel(
    address,
    page,
    () => VIEWS[model.get("shows")]({ model, el: place }),
    (why) => {
      fill(gone, why ? visible(why) : ended);
      gone.hidden = false;
      place.inert = true;
    },
  );
  return () => model.close();
}

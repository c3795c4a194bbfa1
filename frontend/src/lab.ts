// The extension of JupyterLab: a double click on a table in the file browser, or on a folder with tables and nothing
// else, opens the explorer in a tab.
//
// It is small: the explorer itself comes from the server, with the Python that it speaks to. What it needs of
// JupyterLab is what that shares with extensions (module federation); only the parts that are used have types here.

const NAME = "lance-explorer";
const COMMAND = `${NAME}:open`;
/** The end of an address under which JupyterLab shows a table or a folder, and what is shown of it, as we write that. */
const TREE = /\/lab(?:\/workspaces\/[^/]+)?\/tree\/(.+?)\/?$/;
const ADDRESS = /^(?:table|branch|view)=/;
const ENDED = "The server has ended, or the line to it is lost. Close this tab and open the table again.";

interface Item {
  name: string;
  path: string;
  type: string;
}

interface FileBrowser {
  id: string;
  node: HTMLElement;
  model: { manager: { services: { contents: Contents } }; cd: (path: string) => Promise<void> };
  modelForClick: (event: MouseEvent) => Item | undefined;
  selectedItems: () => Iterable<Item>;
}

interface Contents {
  driveName: (path: string) => string;
  localPath: (path: string) => string;
  get: (path: string, options: { content: boolean }) => Promise<{ content: Item[] }>;
}

interface Tracker<Tracked> {
  currentWidget: Tracked | null;
  forEach: (each: (widget: Tracked) => void) => void;
  widgetAdded: { connect: (listener: (sender: unknown, widget: Tracked) => void) => void };
  find: (isIt: (widget: Tracked) => boolean) => Tracked | undefined;
  add: (widget: Tracked) => Promise<void>;
}

interface LuminoWidget {
  id: string;
  node: HTMLElement;
  title: { label: string; caption: string; closable: boolean; icon: unknown };
  onActivateRequest: () => void;
  dispose: () => void;
}

interface App {
  name: string;
  restored: Promise<void>;
  commands: { addCommand: (id: string, options: object) => void; execute: (id: string, args: object) => void };
  contextMenu: { addItem: (options: object) => void };
  shell: { add: (widget: LuminoWidget, area: string) => void; activateById: (id: string) => void };
}

interface Restorer {
  restore: (tracker: unknown, options: object) => void;
}

interface Lab {
  widgets: { Widget: new () => LuminoWidget };
  apputils: { WidgetTracker: new (options: { namespace: string }) => Tracker<TablePage> };
  application: { ILayoutRestorer: unknown };
  filebrowser: { IFileBrowserFactory: unknown };
  ui: { historyIcon: unknown };
  services: { ServerConnection: { makeSettings: () => { baseUrl: string; wsUrl: string; token: string } } };
}

/** A table in a tab of its own. */
interface TablePage extends LuminoWidget {
  path: string;
}

/** What modules there are to share, by name and version. */
type Shared = Record<string, Record<string, { get: () => Promise<() => unknown>; loaded?: unknown }>>;

let shared: Shared = {};

const MODULES = [
  "@lumino/widgets",
  "@jupyterlab/apputils",
  "@jupyterlab/application",
  "@jupyterlab/filebrowser",
  "@jupyterlab/services",
  "@jupyterlab/ui-components",
];

/** A module of JupyterLab: the one it uses itself. */
async function sharedModule(name: string) {
  const versions = Object.values(shared[name]);
  const found = versions.find(({ loaded }) => loaded) ?? versions[0];
  return (await found.get())();
}

/** The plugins: none where there is no file browser, as in Voila. */
async function plugins() {
  if (!MODULES.every((name) => name in shared)) return [];
  const [widgets, apputils, application, filebrowser, services, ui] = await Promise.all(MODULES.map(sharedModule));
  const lab = { widgets, apputils, application, filebrowser, services, ui } as Lab;
  const plugin = {
    id: `${NAME}:plugin`,
    description: "Opens Lance tables from the file browser.",
    autoStart: true,
    optional: [lab.filebrowser.IFileBrowserFactory, lab.application.ILayoutRestorer],
    activate(app: App, browsers: { tracker: Tracker<FileBrowser> } | null, restorer: Restorer | null) {
      if (browsers && !app.name.includes("Notebook")) activate(lab, app, browsers.tracker, restorer);
    },
  };
  return [plugin];
}

function activate(lab: Lab, app: App, browsers: Tracker<FileBrowser>, restorer: Restorer | null) {
  const pages = new lab.apputils.WidgetTracker({ namespace: NAME });
  const selected = () => [...(browsers.currentWidget?.selectedItems() ?? [])];

  /** Open a table; `address` is what is shown of it first. */
  function open(path: string, address = "") {
    let page = pages.find((other) => other.path === path);
    if (!page) {
      page = tablePage(lab, path, address);
      pages.add(page);
      app.shell.add(page, "main");
    }
    app.shell.activateById(page.id);
  }

  app.commands.addCommand(COMMAND, {
    label: () => (selected().every(isTable) ? "Explore Lance Table" : "Explore Lance Tables in Folder"),
    caption: "Open the history of tables: versions, changes, rows, what is on disk",
    isVisible: () => selected().some(isFolder),
    execute: ({ path }: { path?: string }) => {
      if (path) open(path);
      else for (const item of selected()) if (isFolder(item)) open(pathOf(browsers.currentWidget, item) ?? item.path);
    },
  });
  app.contextMenu.addItem({ command: COMMAND, selector: '.jp-DirListing-item[data-isdir="true"]', rank: 0 });
  const [, asked] = TREE.exec(location.pathname) ?? [];
  const address = location.hash.slice(1);
  if (asked && (asked.toLowerCase().endsWith(".lance") || ADDRESS.test(address)))
    app.restored.then(() => open(decodeURIComponent(asked), address));
  restorer?.restore(pages, {
    command: COMMAND,
    args: ({ path }: TablePage) => ({ path }),
    name: ({ path }: TablePage) => path,
  });

  function listen(browser: FileBrowser) {
    /** Open tables, and folders of nothing else, instead of going into their folders. */
    async function take(event: Event, items: Item[]) {
      const paths = items.map((item) => (isFolder(item) ? pathOf(browser, item) : null));
      const areTables = items.every(isTable);
      if (!paths.length || paths.includes(null) || !(areTables || paths.length === 1)) return;
      event.preventDefault();
      event.stopPropagation();
      if (areTables || (await isDatabase(browser, items[0]))) for (const path of paths) open(path as string);
      else await browser.model.cd(`/${paths[0]}`);
    }
    browser.node.addEventListener(
      "dblclick",
      (event) => {
        const item = event.button === 0 && browser.modelForClick(event);
        if (item) take(event, [item]);
      },
      true,
    );
    browser.node.addEventListener(
      "keydown",
      (event) => {
        const isPlain = !(event.ctrlKey || event.shiftKey || event.altKey || event.metaKey);
        const isText = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
        const isInList = event.target instanceof Element && event.target.closest(".jp-DirListing") !== null;
        if (event.key === "Enter" && isPlain && isInList && !isText) take(event, [...browser.selectedItems()]);
      },
      true,
    );
  }
  browsers.forEach(listen);
  browsers.widgetAdded.connect((_, browser) => listen(browser));
}

function isFolder({ type }: Item) {
  return type === "directory";
}

function isTable(item: Item) {
  return isFolder(item) && item.name.toLowerCase().endsWith(".lance");
}

/** Whether a folder has tables and nothing else, so that nobody has to go into it. */
async function isDatabase({ model }: FileBrowser, { path }: Item) {
  try {
    const { content } = await model.manager.services.contents.get(path, { content: true });
    return content.length > 0 && content.every(isTable);
  } catch {
    return false; // going there says why
  }
}

/** Where an item is below the folder of the server; null if it is of another drive. */
function pathOf(browser: FileBrowser | null, { path }: Item) {
  if (!browser) return null;
  const { contents } = browser.model.manager.services;
  return ["", "RTC"].includes(contents.driveName(path)) ? contents.localPath(path) : null;
}

function tablePage({ widgets, services, ui }: Lab, path: string, asked: string) {
  const settings = services.ServerConnection.makeSettings();
  const page = new widgets.Widget() as TablePage;
  page.path = path;
  page.id = `${NAME}-${path}`;
  page.title.label = path.split("/").pop() ?? path;
  page.title.caption = path;
  page.title.closable = true;
  page.title.icon = ui.historyIcon;
  page.node.tabIndex = -1; // JupyterLab takes the tab for the current one when the focus is in it
  page.onActivateRequest = () => {
    if (!page.node.contains(document.activeElement)) page.node.focus({ preventScroll: true });
  };
  Object.assign(page.node.style, {
    overflow: "auto",
    outline: "none",
    padding: "10px 14px",
    background: "var(--jp-layout-color0)",
  });
  const address = new URL(`${NAME}/socket`, settings.wsUrl);
  address.searchParams.set("path", path);
  if (settings.token) address.searchParams.set("token", settings.token);
  let close = () => {};
  addStyle(`${settings.baseUrl}${NAME}/static/explorer.css`);
  import(`${settings.baseUrl}${NAME}/static/explorer.js`).then(
    ({ openPage }) => {
      close = openPage(page.node, address, ENDED, {
        now: () => asked,
        show: () => {}, // the address bar is JupyterLab's
        link: (shown: string) => `${new URL(linkTo(path), settings.baseUrl)}#${shown}`,
        onMove: () => {},
      });
    },
    (error) => {
      page.node.textContent = `The explorer could not be loaded from the server: ${error.message}`;
    },
  );
  const dispose = page.dispose.bind(page);
  page.dispose = () => {
    close();
    dispose();
  };
  return page;
}

/** Where JupyterLab opens a table, below its own address. */
function linkTo(path: string) {
  return `lab/tree/${path.split("/").map(encodeURIComponent).join("/")}`;
}

function addStyle(href: string) {
  if ([...document.querySelectorAll("link")].some((link) => link.href === href)) return;
  const link = document.createElement("link");
  Object.assign(link, { rel: "stylesheet", href });
  document.head.append(link);
}

/** What JupyterLab asks of an extension: it shares its modules, and gets those of the extension. */
const container = {
  init(scope: Shared) {
    shared = scope;
  },
  async get(module: string) {
    if (module !== "./extension") throw new Error(`${NAME} has no ${module}`);
    const made = { __esModule: true, default: await plugins() };
    return () => made;
  },
};

const page = window as unknown as { _JUPYTERLAB?: Record<string, typeof container> };
page._JUPYTERLAB ??= {};
page._JUPYTERLAB[NAME] = container;

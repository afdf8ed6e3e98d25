// What the first load of the page is: its budget, and which files of a built page it fetches.

export const BUDGET_KB = 350;

/** Programs and style sheets that the racks do not need: fetched when one of their pages is opened, or a worker is first asked for something. */
export const isLater = (name) => /^(pages|worker|fleet|figures|about)/.test(name);

/** Whether a file is part of the page, and not a copy of one or a file offered on it. */
export const isLoaded = (name) => /\.(html|js|css|wasm)$/.test(name);

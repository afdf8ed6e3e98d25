// What the first load of the page is: its budget, and when which files of a built page are fetched.

export const BUDGET_KB = 350;

// A shared part comes with the first of those that share it.
const NEXT = /^(step|shared-.*step)/;
const LATER = /^(pages|worker|more|shared)/;

/** Up to racks that answer; the panel of one step, by itself once they are painted; the rest when it is first wanted. */
export const STAGES = ['first load', 'next, by itself', 'later, when first wanted'];

/** When a file is fetched, as one of STAGES. */
export const stageOf = (name) => STAGES[NEXT.test(name) ? 1 : LATER.test(name) ? 2 : 0];

/** Whether a file is part of the page, and not a copy of one or a file offered on it. */
export const isLoaded = (name) => /\.(html|js|css|wasm)$/.test(name);

// Starts the worker's wasm. The query, which names the build of the page, keeps old copies in caches from answering a new
// page. What goes wrong here reaches the page as the worker's error event.
importScripts('./worker.js' + self.location.search);
wasm_bindgen({ module_or_path: './worker_bg.wasm' + self.location.search }).catch((error) => {
  setTimeout(() => { throw error; });
});

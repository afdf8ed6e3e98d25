//! The pages that are fetched when they are first opened; see `ui::annex`. Nothing outside a browser.

#[cfg(target_arch = "wasm32")]
mod page {
    use wasm_bindgen::prelude::wasm_bindgen;

    /// Draws the page of an address inside an element. Here and not in the library, so that no other program carries it.
    #[wasm_bindgen]
    pub fn open(inside: web_sys::HtmlElement, address: String) {
        ntp_explorer::ui::annex::open(inside, address);
    }
}

fn main() {}

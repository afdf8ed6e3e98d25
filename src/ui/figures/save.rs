//! Saves text as a file.

use crate::ui::dom;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, BlobPropertyBag, HtmlAnchorElement, Url};

/// Offers a file for download; in a frame that may not download, nothing happens.
pub fn save(name: &str, kind: &str, text: &str) {
    let _ = try_save(name, kind, text);
}

fn try_save(name: &str, kind: &str, text: &str) -> Result<(), JsValue> {
    let options = BlobPropertyBag::new();
    options.set_type(kind);
    let parts = js_sys::Array::of1(&JsValue::from_str(text));
    let blob = Blob::new_with_str_sequence_and_options(&parts, &options)?;
    let address = Url::create_object_url_with_blob(&blob)?;
    if let Some(document) = dom::document() {
        let link: HtmlAnchorElement = document.create_element("a")?.dyn_into()?;
        link.set_href(&address);
        link.set_download(name);
        link.click();
    }
    Url::revoke_object_url(&address)
}

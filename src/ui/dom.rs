//! Small helpers around the document.

mod after;

pub use after::after_paint;

use leptos::leptos_dom::helpers::AnimationFrameRequestHandle;
use leptos::prelude::*;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{
    CanvasRenderingContext2d, Document, Element, HtmlCanvasElement, HtmlElement,
    ImageBitmapRenderingContext, OffscreenCanvas, ResizeObserver, ResizeObserverEntry, Window,
};

/// The window; absent only outside a page.
pub fn window() -> Option<Window> {
    web_sys::window()
}

/// The document.
pub fn document() -> Option<Document> {
    window()?.document()
}

/// The root element.
pub fn root() -> Option<HtmlElement> {
    document()?.document_element()?.dyn_into().ok()
}

/// Sets an attribute of the root element.
pub fn set_root(name: &str, value: &str) {
    if let Some(root) = root() {
        // Fails only on an invalid attribute name.
        let _ = root.set_attribute(name, value);
    }
}

/// Width of the window, CSS px.
pub fn window_width() -> f64 {
    window()
        .and_then(|w| w.inner_width().ok())
        .and_then(|v| v.as_f64())
        .unwrap_or(1440.0)
}

/// Has everything that follows the window's size look again.
pub fn resized() {
    let event = web_sys::Event::new("resize").ok();
    if let Some((window, event)) = window().zip(event) {
        // Only a handler could fail, and ours do not.
        let _ = window.dispatch_event(&event);
    }
}

thread_local! {
    /// The page's scale, once read: reading it makes the browser bring all styles up to date.
    static ZOOM: Cell<Option<f64>> = const { Cell::new(None) };
    /// Whether a change of the window's size has it read again.
    static FOLLOWED: Cell<bool> = const { Cell::new(false) };
}

/// Scale of the whole page, as the style sheet sets it; 1 when it cannot be read.
pub fn zoom() -> f64 {
    if !FOLLOWED.replace(true) {
        // Talk mode tells as a change of size too. For as long as the page lives.
        window_event_listener_untyped("resize", |_| ZOOM.set(None));
    }
    let zoom = ZOOM.get().unwrap_or_else(read_zoom);
    ZOOM.set(Some(zoom));
    zoom
}

fn read_zoom() -> f64 {
    let zoom = Tokens::read().given("--zoom").and_then(|z| z.parse().ok());
    zoom.filter(|z: &f64| z.is_finite() && *z > 0.0)
        .unwrap_or(1.0)
}

/// What the style sheet sets on the root element: the colours and fonts of the theme in use, for canvases. Reading brings all
/// styles up to date.
pub struct Tokens(Option<web_sys::CssStyleDeclaration>);

impl Tokens {
    /// As they are now.
    pub fn read() -> Self {
        let style = window()
            .zip(root())
            .and_then(|(window, root)| window.get_computed_style(&root).ok().flatten());
        Self(style)
    }

    fn given(&self, name: &str) -> Option<String> {
        let value = self.0.as_ref()?.get_property_value(name).ok()?;
        Some(value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// A colour or font; a middle grey where the sheet has none.
    pub fn get(&self, name: &str) -> String {
        self.given(name).unwrap_or_else(|| "#888".to_owned())
    }
}

/// The page's letters, for canvases: `--sans` of `tokens.css`, or a font of them at a size.
macro_rules! sans {
    () => {
        "-apple-system,'Segoe UI','Helvetica Neue','Liberation Sans',Arial,Fit,system-ui,sans-serif"
    };
    ($size:literal) => {
        concat!($size, " ", $crate::ui::dom::sans!())
    };
}
pub(crate) use sans;

/// The first element under another one that a selector finds.
pub fn find(under: &Element, css: &str) -> Option<Element> {
    under.query_selector(css).ok().flatten()
}

/// All elements under another one that a selector finds.
pub fn all(under: &Element, css: &str) -> Vec<Element> {
    let Ok(list) = under.query_selector_all(css) else {
        return Vec::new();
    };
    (0..list.length())
        .filter_map(|at| list.item(at)?.dyn_into().ok())
        .collect()
}

/// Whether the user asks for little motion.
pub fn reduced_motion() -> bool {
    media("(prefers-reduced-motion: reduce)")
}

/// Whether a media query holds.
pub fn media(query: &str) -> bool {
    window()
        .and_then(|w| w.match_media(query).ok().flatten())
        .is_some_and(|m| m.matches())
}

/// Removes an element by id, if it is there.
pub fn remove(id: &str) {
    if let Some(element) = document().and_then(|d| d.get_element_by_id(id)) {
        element.remove();
    }
}

/// The target of an event as an element.
pub fn target(event: &web_sys::Event) -> Option<Element> {
    event.target()?.dyn_into().ok()
}

/// The page's clock, ms; 0 where there is none.
pub fn now_ms() -> f64 {
    window()
        .and_then(|window| window.performance())
        .map_or(0.0, |clock| clock.now())
}

/// Where a pointer is on the element that listens, CSS px of the element whatever the page's zoom.
pub fn place_in(event: &web_sys::MouseEvent) -> (f64, f64) {
    let element: Option<HtmlElement> = event
        .current_target()
        .and_then(|target| target.dyn_into().ok());
    let Some(element) = element else {
        return (f64::from(event.offset_x()), f64::from(event.offset_y()));
    };
    let rect = element.get_bounding_client_rect();
    let laid = f64::from(element.offset_width());
    let zoom = if laid > 0.0 && rect.width() > 0.0 {
        rect.width() / laid
    } else {
        1.0
    };
    (
        (f64::from(event.client_x()) - rect.x()) / zoom,
        (f64::from(event.client_y()) - rect.y()) / zoom,
    )
}

/// The location's hash, `#` included; empty when there is none.
pub fn hash() -> String {
    window()
        .and_then(|w| w.location().hash().ok())
        .unwrap_or_default()
}

/// Sets or takes away an attribute of the root element; whether that changed anything.
pub fn mark_root(name: &str, on: bool) -> bool {
    let Some(root) = root().filter(|root| root.has_attribute(name) != on) else {
        return false;
    };
    // Fails only for an invalid name.
    root.toggle_attribute_with_force(name, on).is_ok()
}

/// A handler that does nothing once what it belongs to is gone: a box that has the focus says that it loses it while it is
/// taken off the page.
pub fn while_here<E>(mut handler: impl FnMut(E)) -> impl FnMut(E) {
    let here = StoredValue::new(());
    move |event| {
        if here.try_get_value().is_some() {
            handler(event);
        }
    }
}

/// Whether a key is meant for the page: not typed into a field and not for an open dialog.
pub fn is_shortcut(event: &web_sys::KeyboardEvent) -> bool {
    let Some(element) = target(event) else {
        return !event.alt_key();
    };
    let is = |css: &str| element.matches(css).unwrap_or(false);
    let typing = is("input, select, textarea, [contenteditable]")
        && !is("input[type=range], input[type=checkbox], input[type=radio]");
    let modal = element
        .closest("[role=dialog], dialog")
        .ok()
        .flatten()
        .is_some();
    !typing && !modal && !event.alt_key()
}

/// Calls back with the size of an element's content box, CSS px, at once and whenever it changes.
pub fn on_resize<E>(node: NodeRef<E>, changed: impl Fn(f64, f64) + 'static)
where
    E: leptos::html::ElementType + 'static,
    E::Output: JsCast + AsRef<Element> + Clone + 'static,
{
    let changed = Rc::new(changed);
    let kept = StoredValue::new_local(None::<(ResizeObserver, Closure<dyn FnMut(js_sys::Array)>)>);
    // Before the callback goes, as an observer that outlives it would call what is no more.
    let part = move || {
        if let Some(Some((observer, _))) = kept.try_update_value(Option::take) {
            observer.disconnect();
        }
    };
    Effect::new(move |_| {
        let element = node.get();
        part();
        let Some(element) = element else { return };
        let changed = Rc::clone(&changed);
        let callback = Closure::<dyn FnMut(js_sys::Array)>::new(move |entries: js_sys::Array| {
            let last = entries.pop();
            if let Some(entry) = last.dyn_ref::<ResizeObserverEntry>() {
                let rect = entry.content_rect();
                changed(rect.width(), rect.height());
            }
        });
        if let Ok(observer) = ResizeObserver::new(callback.as_ref().unchecked_ref()) {
            observer.observe(element.as_ref());
            kept.set_value(Some((observer, callback)));
        }
    });
    on_cleanup(part);
}

/// Calls back whenever a canvas of the page may be drawn on again after its pixels were lost.
pub fn on_canvas_restored(restored: impl Fn() + 'static) {
    let heard = Closure::<dyn FnMut()>::new(restored);
    if let Some(document) = document() {
        // The event does not bubble. Cannot fail for a function.
        let _ = document.add_event_listener_with_callback_and_bool(
            "contextrestored",
            heard.as_ref().unchecked_ref(),
            true,
        );
    }
    // It hears as long as the page lives.
    heard.forget();
}

/// At most one pending animation frame; a later request replaces the one before.
#[derive(Default)]
pub struct Frame(Option<AnimationFrameRequestHandle>);

impl Frame {
    /// Runs before the next paint.
    pub fn request(&mut self, paint: impl FnOnce() + 'static) {
        if let Some(handle) = self.0.take() {
            handle.cancel();
        }
        self.0 = request_animation_frame_with_handle(paint).ok();
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        if let Some(handle) = self.0.take() {
            handle.cancel();
        }
    }
}

type Paint = Rc<Cell<Option<Box<dyn FnOnce()>>>>;

thread_local! {
    /// Pictures to paint, those taken back included.
    static PICTURES: RefCell<VecDeque<Paint>> = const { RefCell::new(VecDeque::new()) };
}

/// A dear picture that waits for its turn: one a frame over the whole page, so that many of them together never hold it
/// up. A later request replaces the one before.
#[derive(Default)]
pub struct Turn(Paint);

impl Turn {
    /// Paints before one of the next frames.
    pub fn request(&mut self, paint: impl FnOnce() + 'static) {
        self.0.take();
        self.0 = Rc::new(Cell::new(Some(Box::new(paint))));
        let first = PICTURES.with_borrow_mut(|waiting| {
            waiting.push_back(Rc::clone(&self.0));
            waiting.len() == 1
        });
        if first {
            request_animation_frame(paint_next);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.take();
    }
}

fn paint_next() {
    let (paint, more) = PICTURES.with_borrow_mut(|waiting| {
        let next = std::iter::from_fn(|| waiting.pop_front()).find_map(|paint| paint.take());
        (next, !waiting.is_empty())
    });
    if more {
        request_animation_frame(paint_next);
    }
    if let Some(paint) = paint {
        paint();
    }
}

/// Device pixels per CSS pixel. Reads no boxes, so that a paint lays nothing out.
pub fn ratio() -> f64 {
    // Page zoom by CSS multiplies device pixels too.
    window().map_or(1.0, |window| window.device_pixel_ratio()) * zoom()
}

/// The context of a canvas; `alpha`: what is not painted shines through.
pub fn pen(canvas: &HtmlCanvasElement, alpha: bool) -> Option<CanvasRenderingContext2d> {
    let pen = canvas.get_context_with_context_options("2d", &alpha_is(alpha)?);
    pen.ok()??.dyn_into().ok()
}

/// Options of a context.
fn alpha_is(alpha: bool) -> Option<JsValue> {
    let options = js_sys::Object::new();
    js_sys::Reflect::set(&options, &"alpha".into(), &alpha.into()).ok()?;
    Some(options.into())
}

/// Paints a picture that stays as it is over a canvas, on a ground of one colour. It is painted aside and handed over
/// whole: what may be drawn on at any time, some browsers copy for every frame.
pub fn picture(
    canvas: &HtmlCanvasElement,
    wide: f64,
    high: f64,
    ground: &str,
    paint: impl FnOnce(&CanvasRenderingContext2d),
) {
    let (w, h, ratio) = device_size(wide, high);
    let Some((aside, pen)) = aside(w, h) else {
        // An older browser: on the canvas itself.
        if let Some(pen) = opaque(canvas, wide, high, ground) {
            paint(&pen);
        }
        return;
    };
    // Fails only for what is no number.
    let _ = pen.scale(ratio, ratio);
    pen.set_fill_style_str(ground);
    pen.fill_rect(0.0, 0.0, wide, high);
    paint(&pen);
    fit(canvas, w, h, ratio);
    let show = alpha_is(false)
        .and_then(|options| {
            canvas
                .get_context_with_context_options("bitmaprenderer", &options)
                .ok()?
        })
        .and_then(|show| show.dyn_into::<ImageBitmapRenderingContext>().ok());
    if let (Some(show), Ok(bitmap)) = (show, aside.transfer_to_image_bitmap()) {
        show.transfer_from_image_bitmap(&bitmap);
    }
}

/// A canvas outside the document; its pen draws as that of a canvas inside does.
fn aside(w: f64, h: f64) -> Option<(OffscreenCanvas, CanvasRenderingContext2d)> {
    let aside = OffscreenCanvas::new(w as u32, h as u32).ok()?;
    let pen = aside.get_context_with_context_options("2d", &alpha_is(false)?);
    Some((aside, pen.ok()??.unchecked_into()))
}

/// Whole device pixels of a size in CSS px, and device pixels per CSS pixel.
fn device_size(wide: f64, high: f64) -> (f64, f64, f64) {
    let ratio = ratio();
    let whole = |size: f64| (size * ratio).floor().max(1.0);
    (whole(wide), whole(high), ratio)
}

/// Gives a canvas so many device pixels.
fn fit(canvas: &HtmlCanvasElement, w: f64, h: f64, ratio: f64) {
    if f64::from(canvas.width()) != w || f64::from(canvas.height()) != h {
        canvas.set_width(w as u32);
        canvas.set_height(h as u32);
    }
    style(canvas, "width", &format!("{}px", w / ratio));
    style(canvas, "height", &format!("{}px", h / ratio));
}

/// As [`canvas`], on a ground of one colour: nothing shines through, so the browser copies it instead of blending it.
pub fn opaque(
    canvas: &HtmlCanvasElement,
    wide: f64,
    high: f64,
    ground: &str,
) -> Option<CanvasRenderingContext2d> {
    // The first call decides; the next one gets the same context.
    self::pen(canvas, false)?;
    let pen = self::canvas(canvas, wide, high)?;
    pen.set_fill_style_str(ground);
    pen.fill_rect(0.0, 0.0, wide, high);
    Some(pen)
}

/// Sizes a canvas to whole device pixels and returns its cleared context, scaled to CSS px.
pub fn canvas(
    canvas: &HtmlCanvasElement,
    wide: f64,
    high: f64,
) -> Option<CanvasRenderingContext2d> {
    let (w, h, ratio) = device_size(wide, high);
    fit(canvas, w, h, ratio);
    let pen = self::pen(canvas, true)?;
    pen.reset_transform().ok()?;
    pen.clear_rect(0.0, 0.0, w, h);
    pen.scale(ratio, ratio).ok()?;
    Some(pen)
}

/// Sets one property of an element's own style.
pub fn style(element: &HtmlElement, name: &str, value: &str) {
    // Fails only on an invalid name.
    let _ = HtmlElement::style(element).set_property(name, value);
}

/// The clipboard, where the page may write to it (a secure context).
pub fn clipboard() -> Option<web_sys::Clipboard> {
    let window = window()?;
    window
        .is_secure_context()
        .then(|| window.navigator().clipboard())
}

/// Moves the focus into an element by id: to its first tab stop, or to itself.
pub fn focus(id: &str) {
    let element = document().and_then(|document| document.get_element_by_id(id));
    let Some(element) = element else { return };
    let first = element
        .query_selector("[tabindex='0'], button, a[href], input")
        .ok()
        .flatten();
    if let Ok(target) = first.unwrap_or(element).dyn_into::<HtmlElement>() {
        // Fails for no element.
        let _ = target.focus();
    }
}

/// Headings of a table's columns.
pub fn columns(names: &[&'static str]) -> impl IntoView + use<> {
    names
        .iter()
        .map(|&name| view! { <th scope="col">{name}</th> })
        .collect_view()
}

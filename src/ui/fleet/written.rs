//! Parts of the document that remember what was written to them: reading it back, or writing the same again, is the dear
//! part of a frame.

use crate::ui::dom;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

/// What is written.
#[derive(Clone, Copy)]
enum Sort {
    Text,
    Markup,
    Attribute(&'static str),
    Style(&'static str),
    Class(&'static str),
}

/// One text, attribute, style or class of an element.
pub struct Written {
    of: Option<HtmlElement>,
    svg: Option<Element>,
    sort: Sort,
    last: Option<String>,
}

impl Written {
    fn new(of: Option<Element>, sort: Sort) -> Self {
        let (of, svg) = match of.map(JsCast::dyn_into::<HtmlElement>) {
            Some(Ok(html)) => (Some(html), None),
            Some(Err(other)) => (None, Some(other)),
            None => (None, None),
        };
        Self {
            of,
            svg,
            sort,
            last: None,
        }
    }
    /// Its text.
    pub fn text(of: Option<Element>) -> Self {
        Self::new(of, Sort::Text)
    }
    /// Its content as markup.
    pub fn markup(of: Option<Element>) -> Self {
        Self::new(of, Sort::Markup)
    }
    /// An attribute.
    pub fn attribute(of: Option<Element>, name: &'static str) -> Self {
        Self::new(of, Sort::Attribute(name))
    }
    /// A property of its own style.
    pub fn style(of: Option<Element>, name: &'static str) -> Self {
        Self::new(of, Sort::Style(name))
    }
    /// Whether it has a class: set by [`Written::turn`].
    pub fn class(of: Option<Element>, name: &'static str) -> Self {
        Self::new(of, Sort::Class(name))
    }

    /// Writes, unless that is what it says already.
    pub fn set(&mut self, value: &str) {
        if self.last.as_deref() == Some(value) {
            return;
        }
        self.last = Some(value.to_owned());
        let element = self.of.as_deref().or(self.svg.as_ref());
        let Some(element) = element else { return };
        // Each fails only for an invalid name.
        match self.sort {
            Sort::Text => element.set_text_content(Some(value)),
            Sort::Markup => element.set_inner_html(value),
            Sort::Attribute(name) => {
                let _ = element.set_attribute(name, value);
            }
            Sort::Style(name) => {
                if let Some(html) = &self.of {
                    dom::style(html, name, value);
                }
            }
            Sort::Class(name) => {
                let _ = element
                    .class_list()
                    .toggle_with_force(name, !value.is_empty());
            }
        }
    }

    /// Switches a class.
    pub fn turn(&mut self, on: bool) {
        self.set(if on { "on" } else { "" });
    }
}

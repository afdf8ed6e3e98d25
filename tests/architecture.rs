//! The rules of ARCHITECTURE.md that a compiler does not check: imports go one way, the model is pure, and nothing in
//! the repository depends on the machine it was written on.

#![allow(clippy::expect_used, clippy::panic)] // a test may fail in its helpers too

use std::fs;
use std::path::{Path, PathBuf};

const WEB: [&str; 6] = [
    "leptos",
    "web_sys",
    "js_sys",
    "wasm_bindgen",
    "gloo",
    "console_error_panic_hook",
];
/// What would make the same scenario give other numbers the second time.
const IMPURE: [&str; 6] = [
    "Instant",
    "SystemTime",
    "thread_rng",
    "ThreadRng",
    "OsRng",
    "SysRng",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files below a folder, without build products and hidden folders other than CI's.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let hidden = name.starts_with('.') && ![".ci", ".gitignore"].contains(&name);
        if hidden || ["target", "dist", "node_modules"].contains(&name) || path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The sources of one layer, `src/NAME.rs` and `src/NAME/`, without comments.
fn layer(name: &str) -> Vec<(PathBuf, String)> {
    let mut paths = vec![root().join(format!("src/{name}.rs"))];
    let folder = root().join("src").join(name);
    if folder.is_dir() {
        paths.extend(
            files(&folder)
                .into_iter()
                .filter(|path| path.extension().is_some_and(|ext| ext == "rs")),
        );
    }
    let code = |path: &Path| {
        let text = fs::read_to_string(path).expect("a readable source");
        text.lines()
            .map(|line| line.split("//").next().unwrap_or_default())
            .collect::<Vec<_>>()
            .join("\n")
    };
    paths
        .into_iter()
        .map(|path| (path.clone(), code(&path)))
        .collect()
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

/// The top-level modules that paths like `crate::name` or `crate::{name::A, other}` lead to.
fn modules_used(code: &str) -> Vec<String> {
    let mut used = Vec::new();
    for start in ["crate::", "super::", "ntp_explorer::"] {
        for (at, _) in code.match_indices(start) {
            let rest = &code[at + start.len()..];
            if !rest.starts_with('{') {
                used.extend(words(rest).next().map(str::to_owned));
                continue;
            }
            // A word counts when it is the first of an entry of the outermost braces.
            let (mut depth, mut first, mut word) = (0, true, String::new());
            for c in rest.chars() {
                if c.is_alphanumeric() || c == '_' {
                    word.push(c);
                    continue;
                }
                let whole = std::mem::take(&mut word);
                if depth == 1 && first && !whole.is_empty() {
                    used.push(whole);
                    first = false;
                }
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    ',' if depth == 1 => first = true,
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
            }
        }
    }
    used
}

fn check_layer(name: &str, forbidden_modules: &[&str], forbidden_words: &[&str]) {
    for (path, code) in layer(name) {
        for module in modules_used(&code) {
            assert!(
                !forbidden_modules.contains(&module.as_str()),
                "{}: {name} must not use {module}",
                path.display()
            );
        }
        for word in words(&code) {
            assert!(
                !forbidden_words.contains(&word),
                "{}: {name} must not use {word}",
                path.display()
            );
        }
    }
}

#[test]
fn a_forbidden_import_is_seen_in_every_form() {
    assert_eq!(modules_used("use crate::ui::mount;"), ["ui"]);
    assert_eq!(
        modules_used("use crate::{core::{a, b}, scene, ui::{c}};"),
        ["core", "scene", "ui"]
    );
    assert_eq!(modules_used("let x = super::cli::run();"), ["cli"]);
    assert_eq!(
        words("use web_sys::Window;").collect::<Vec<_>>(),
        ["use", "web_sys", "Window"]
    );
}

#[test]
fn the_core_is_pure_and_uses_no_other_layer() {
    check_layer(
        "core",
        &["scene", "work", "ui", "cli"],
        &[&WEB[..], &IMPURE[..]].concat(),
    );
}

#[test]
fn the_scene_is_pure_and_uses_only_the_core() {
    check_layer(
        "scene",
        &["work", "ui", "cli"],
        &[&WEB[..], &IMPURE[..]].concat(),
    );
}

#[test]
fn long_work_is_pure_and_uses_only_the_core() {
    check_layer(
        "work",
        &["scene", "ui", "cli"],
        &[&WEB[..], &IMPURE[..]].concat(),
    );
}

#[test]
fn the_page_and_the_command_line_do_not_know_each_other() {
    check_layer("ui", &["cli"], &[]);
    check_layer("cli", &["ui"], &WEB);
}

#[test]
fn no_file_names_a_machine_or_a_registry() {
    // Joined here so that this file does not name them itself.
    let hosts = [
        ["crates", ".io"],
        ["npmjs", ".org"],
        ["npmjs", ".com"],
        ["pypi", ".org"],
        ["deb.debian", ".org"],
        ["arti", "factory"],
    ];
    let places = [
        ["/wo", "rk/"],
        ["/ro", "ot/"],
        ["/ho", "me/"],
        ["/t", "mp/"],
        ["/Us", "ers/"],
    ];
    let banned: Vec<String> = hosts
        .iter()
        .chain(&places)
        .map(|parts| parts.concat())
        .collect();
    for path in files(root()) {
        // Cargo writes its lock file in its own words.
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        if path.ends_with("Cargo.lock") {
            continue;
        }
        for (line, text) in text.lines().enumerate() {
            for name in &banned {
                assert!(
                    !text.contains(name),
                    "{}:{}: names {name}",
                    path.display(),
                    line + 1
                );
            }
        }
    }
}

/// Style sheets of one page each; the others frame every page.
const PAGES: [&str; 6] = [
    "rack.css",
    "side.css",
    "step.css",
    "fleet.css",
    "figures.css",
    "about.css",
];

/// Classes that pages share on purpose, each styled bare by one of them.
const SHARED: [&str; 7] = [
    "opts", "sec", "verdict", "fld", "main", "ppanel", "figtable",
];

/// Text split at characters that stand in no round bracket.
fn outside_brackets<'a>(text: &'a str, ends: &'a [char]) -> impl Iterator<Item = &'a str> {
    let mut depth = 0_i32;
    text.split(move |c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0 && ends.contains(&c)
    })
}

/// Every class that a style sheet names, with whether an element of it is styled wherever it stands.
fn classes(sheet: &str) -> Vec<(String, bool)> {
    let mut all = Vec::new();
    for block in sheet.split('}') {
        // What an at-rule wraps follows its own brace.
        let Some(selectors) = block.rsplit('{').nth(1) else {
            continue;
        };
        let selectors = selectors.rsplit("*/").next().unwrap_or(selectors);
        for selector in outside_brackets(selectors, &[',']) {
            let parts: Vec<&str> = outside_brackets(selector, &[' ', '>', '+', '~', '\n'])
                .filter(|part| !part.is_empty() && !part.starts_with(":root"))
                .collect();
            for part in &parts {
                let names = part.match_indices('.').filter_map(|(at, _)| {
                    let name = part.get(at + 1..)?;
                    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
                    Some((at, name.get(..end.unwrap_or(name.len()))?))
                });
                let named = |name: &str| name.starts_with(|c: char| c.is_ascii_alphabetic());
                for (at, name) in names.filter(|(_, name)| named(name)) {
                    all.push((name.to_owned(), at == 0 && parts.len() == 1));
                }
            }
        }
    }
    all
}

#[test]
fn the_classes_of_a_style_sheet_are_read() {
    let found = classes(
        "/* a.b */ .one .two:hover, .three.four { x: 1.5px }\n@media (x) { :root .five:not(.six, .seven) { } }",
    );
    let bare: Vec<&str> = found
        .iter()
        .filter(|(_, bare)| *bare)
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(bare, ["three", "five"]);
    assert_eq!(found.len(), 7, "{found:?}");
}

/// The first page's sheets are always there and those of all others come together, so that a bare class of one page would also
/// style another page's elements.
#[test]
fn a_class_belongs_to_one_page() {
    let sheets: Vec<(&str, Vec<(String, bool)>)> = PAGES
        .iter()
        .map(|name| {
            let path = root().join("style").join(name);
            (
                *name,
                classes(&fs::read_to_string(path).expect("a style sheet")),
            )
        })
        .collect();
    for (owner, own) in &sheets {
        for (name, _) in own.iter().filter(|(_, bare)| *bare) {
            for (other, theirs) in sheets.iter().filter(|(other, _)| other != owner) {
                assert!(
                    SHARED.contains(&name.as_str())
                        || theirs.iter().all(|(their, _)| their != name),
                    ".{name} is styled bare in {owner} and named in {other}"
                );
            }
        }
    }
}

#[test]
fn canvases_write_in_the_letters_of_the_page() {
    let fonts = |path: &str, before: &str, after: char| -> Vec<String> {
        let text = fs::read_to_string(root().join(path)).expect("a source file");
        let list = text.split_once(before).expect("a list of fonts").1;
        list.split(after)
            .next()
            .unwrap_or_default()
            .split(',')
            .map(|font| font.trim_matches(['"', '\'', ' ']).to_owned())
            .collect()
    };
    let page = fonts("style/tokens.css", "--sans:", ';');
    let canvas = fonts(
        "src/ui/dom.rs",
        "macro_rules! sans {\n    () => {\n        \"",
        '"',
    );
    assert!(page.len() > 3, "{page:?}");
    assert_eq!(page, canvas);
}

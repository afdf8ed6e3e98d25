//! The timeline of one step: painted, driven by keys, mouse and fingers, and saved.

use crate::rig::page::Page;
use crate::rig::view::View;
use crate::rig::{browse, journey};
use fantoccini::key::Key;
use serde_json::{Value, json};

const FAILED: &str = "#/rack?fail=0.17,0.41,1.28";

/// Waits until the timeline is on its canvas.
async fn drawn(page: &Page) {
    page.until(
        "a canvas",
        "document.querySelector('.gplot canvas')?.width > 300",
    )
    .await;
}

async fn window(page: &Page) -> (f64, f64) {
    let text = page
        .value("document.querySelector('.gplot').dataset.windowNs")
        .await;
    let (from, to) = text
        .as_str()
        .expect("a window")
        .split_once(' ')
        .expect("two ends");
    (
        from.parse().expect("a number"),
        to.parse().expect("a number"),
    )
}

async fn number(page: &Page, expression: &str) -> f64 {
    let value = page.value(expression).await;
    value
        .as_f64()
        .or_else(|| value.as_str()?.parse().ok())
        .unwrap_or_else(|| panic!("{expression}: {value}"))
}

async fn exposed_ms(page: &Page) -> f64 {
    number(page, "document.querySelector('.gplot').dataset.exposedMs").await
}

async fn focus(page: &Page) {
    page.script("document.querySelector('.gplot canvas').focus()", json!([]))
        .await;
}

/// Sends a pointer or wheel event to the canvas, at a share of its width and a height in px.
async fn send(page: &Page, kind: &str, x: f64, y: f64, more: Value) {
    let code = "const c = document.querySelector('.gplot canvas'), b = c.getBoundingClientRect(); \
        const at = { bubbles: true, cancelable: true, clientX: b.x + arguments[1] * b.width, clientY: b.y + arguments[2], pointerId: 1, \
        pointerType: 'mouse', isPrimary: true, button: 0, buttons: 1, ...arguments[3] }; \
        const make = { wheel: WheelEvent, dblclick: MouseEvent }[arguments[0]] ?? PointerEvent; \
        c.setPointerCapture = () => {}; c.dispatchEvent(new make(arguments[0], at))";
    page.script(code, json!([kind, x, y, more])).await;
    page.settle().await;
}

journey!(
    the_canvas_is_painted_at_the_screens_pixels,
    FAILED,
    async |page: &Page| {
        drawn(page).await;
        page.settle().await;
        let ratio = number(page, "document.querySelector('.gplot canvas').width / document.querySelector('.gplot canvas').offsetWidth").await;
        let screen = number(page, "devicePixelRatio").await;
        assert!((ratio - screen).abs() < 0.01, "{ratio} for {screen}");
        let code = "const c = document.querySelector('.gplot canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; \
        const seen = new Set(); for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 0) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); \
        return ['647488', '0c9cb6', '1d4fd8', '86206f', '20262e'].filter(k => !seen.has(parseInt(k, 16)))";
        let missing = page.script(code, json!([])).await;
        assert_eq!(
            missing,
            json!([]),
            "colours of kinds that are not on the canvas"
        );
        assert!(exposed_ms(page).await > 0.0);
    }
);

journey!(
    keys_zoom_pan_step_search_and_help,
    FAILED,
    async |page: &Page| {
        drawn(page).await;
        focus(page).await;
        let first = window(page).await;
        page.press('w').await;
        let closer = window(page).await;
        assert!(
            closer.1 - closer.0 < 0.9 * (first.1 - first.0),
            "{closer:?} after {first:?}"
        );
        page.press('a').await;
        let left = window(page).await;
        assert!(left.0 < closer.0, "{left:?} after {closer:?}");
        page.press('d').await;
        page.press('s').await;
        let back = window(page).await;
        assert!((back.1 - back.0) / (first.1 - first.0) - 1.0 < 0.01);
        page.press('0').await;
        let whole = window(page).await;
        assert!(whole.0 <= 0.0);
        page.press('.').await;
        page.until(
            "the card of a span",
            "document.querySelector('.gcard')?.textContent.includes('takes')",
        )
        .await;
        let said = page
            .value("document.querySelector('.gcard').textContent")
            .await;
        page.press('.').await;
        assert_ne!(
            page.value("document.querySelector('.gcard').textContent")
                .await,
            said
        );
        page.press('f').await;
        let fitted = window(page).await;
        assert!(
            fitted.1 - fitted.0 < 0.2 * (whole.1 - whole.0),
            "{fitted:?}"
        );
        page.press(Key::Escape).await;
        page.until("no card", "!document.querySelector('.gcard')")
            .await;
        page.press('/').await;
        page.until(
            "the search line",
            "document.activeElement?.type === 'search'",
        )
        .await;
        for letter in "dp sync bucket 3".chars() {
            page.press(letter).await;
        }
        page.until(
            "matches",
            "document.querySelector('.gsearch').textContent.includes('found')",
        )
        .await;
        page.press(Key::Enter).await;
        page.until(
            "a match selected",
            "document.querySelector('.gcard')?.textContent.includes('bucket 3')",
        )
        .await;
        page.press(Key::Escape).await;
        focus(page).await;
        page.press('?').await;
        page.until(
            "the keys",
            "document.querySelector('.ghelp')?.textContent.includes('pan left')",
        )
        .await;
        page.press(Key::Escape).await;
        page.until("no keys", "!document.querySelector('.ghelp')")
            .await;
    }
);

journey!(
    the_mouse_zooms_pans_and_selects,
    FAILED,
    async |page: &Page| {
        drawn(page).await;
        let first = window(page).await;
        send(
            page,
            "wheel",
            0.5,
            60.0,
            json!({ "deltaY": -300, "ctrlKey": true }),
        )
        .await;
        let closer = window(page).await;
        assert!(
            closer.1 - closer.0 < first.1 - first.0 && closer.0 > first.0 && closer.1 < first.1
        );
        send(page, "pointerdown", 0.5, 60.0, json!({})).await;
        send(page, "pointermove", 0.6, 60.0, json!({})).await;
        send(page, "pointerup", 0.6, 60.0, json!({})).await;
        let panned = window(page).await;
        assert!(panned.0 < closer.0, "dragging right shows earlier times");
        send(page, "pointerdown", 0.3, 60.0, json!({ "shiftKey": true })).await;
        send(page, "pointermove", 0.7, 60.0, json!({ "shiftKey": true })).await;
        send(page, "pointerup", 0.7, 60.0, json!({ "shiftKey": true })).await;
        page.until(
            "sums of the range",
            "document.querySelector('.gsums')?.textContent.includes('Busy in')",
        )
        .await;
        // To one nanosecond and out again: the page must live.
        for _ in 0..40 {
            send(
                page,
                "wheel",
                0.5,
                60.0,
                json!({ "deltaY": -2000, "ctrlKey": true }),
            )
            .await;
        }
        let narrow = window(page).await;
        assert!(narrow.1 - narrow.0 <= 1.001, "{narrow:?}");
        for _ in 0..40 {
            send(
                page,
                "wheel",
                0.5,
                60.0,
                json!({ "deltaY": 2000, "ctrlKey": true }),
            )
            .await;
        }
        assert!(window(page).await.0 <= 0.0);
    }
);

journey!(
    the_legend_hides_groups_fold_and_the_view_stays,
    FAILED,
    async |page: &Page| {
        drawn(page).await;
        focus(page).await;
        page.press('w').await;
        let view = window(page).await;
        page.script("document.querySelector('.gtable').open = true", json!([]))
            .await;
        let rows = "[...document.querySelectorAll('.gtable tbody tr')].filter(r => /DP sync/.test(r.textContent)).length";
        page.until("rows of DP sync", &format!("{rows} > 0")).await;
        let chip =
            "[...document.querySelectorAll('.gchip')].find(c => c.textContent.includes('DP sync'))";
        page.script(&format!("{chip}.click()"), json!([])).await;
        page.until("no DP sync", &format!("{rows} === 0")).await;
        assert_eq!(
            page.value(&format!("{chip}.getAttribute('aria-pressed')"))
                .await,
            "false"
        );
        page.script(&format!("{chip}.click()"), json!([])).await;
        page.script("document.querySelector('.gtable').open = false", json!([]))
            .await;
        // A group folds to its first row and can stay at the top.
        let second = "[...document.querySelectorAll('.gfold')][1]";
        let top = number(page, &format!("{second}.getBoundingClientRect().top")).await;
        page.script("document.querySelector('.gfold').click()", json!([]))
            .await;
        page.until(
            "a folded group",
            "document.querySelector('.gfold').getAttribute('aria-expanded') === 'false'",
        )
        .await;
        assert!(
            number(page, &format!("{second}.getBoundingClientRect().top")).await < top,
            "the next group moves up"
        );
        page.script(
            "[...document.querySelectorAll('.gpin')].at(-1).click()",
            json!([]),
        )
        .await;
        page.until("a pinned group", "(() => { const top = b => b.getBoundingClientRect().top, pins = [...document.querySelectorAll('.gpin')]; \
            return pins.at(-1).getAttribute('aria-pressed') === 'true' && pins.every(p => top(p) >= top(pins.at(-1))) })()")
        .await;
        // Neither other views nor sizes nor colours move the window.
        let pipeline = "[...document.querySelectorAll('.gviews button')][1]";
        page.script(&format!("{pipeline}.click()"), json!([])).await;
        page.until(
            "the pipeline",
            &format!("{pipeline}.getAttribute('aria-pressed') === 'true'"),
        )
        .await;
        page.script(
            "document.querySelector('[aria-label=\"Switch theme\"]').click()",
            json!([]),
        )
        .await;
        page.devtools(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": 1600, "height": 1000, "deviceScaleFactor": 2, "mobile": false }),
        )
        .await;
        page.settle().await;
        assert_eq!(window(page).await, view);
    }
);

journey!(
    controls_move_the_picture_and_bad_values_say_why,
    FAILED,
    async |page: &Page| {
        drawn(page).await;
        let before = exposed_ms(page).await;
        let slide = "const s = document.querySelector('.gbucket input'); s.value = arguments[0]; \
        s.dispatchEvent(new Event('input', { bubbles: true }))";
        page.script(slide, json!(["30"])).await;
        page.settle().await;
        let after = exposed_ms(page).await;
        assert!((after / before - 1.0).abs() > 0.05, "{before} and {after}");
        assert!(
            page.see_link().await.contains("bucket="),
            "the bucket is in the link"
        );
        let view = window(page).await;
        page.script(
            "document.querySelector('.gh .popwrap button').click()",
            json!([]),
        )
        .await;
        let set = "const i = [...document.querySelectorAll('.gwhat input[type=number]')][arguments[0]]; i.value = arguments[1]; \
        i.dispatchEvent(new Event('change', { bubbles: true }))";
        page.script(set, json!([0, "0"])).await;
        page.until("why zero is refused", "document.querySelector('.gwhat .err')?.textContent.includes('timeline.nvlink_factor: 0 is not allowed')")
        .await;
        page.script(set, json!([0, "2"])).await;
        page.until("no error", "!document.querySelector('.gwhat .err')")
            .await;
        assert!(exposed_ms(page).await < after, "faster NVLink exposes less");
        page.script(set, json!([4, "99"])).await;
        page.until(
            "which stages there are",
            "document.querySelector('.gwhat .err')?.textContent.includes('timeline.stage: 99')",
        )
        .await;
        page.script(set, json!([4, "1"])).await;
        page.until("no error", "!document.querySelector('.gwhat .err')")
            .await;
        assert!(window(page).await.0.is_finite() && view.0.is_finite());
    }
);

#[test]
fn impossible_and_extreme_steps_say_so() {
    browse("step-limits", View::DESKTOP, FAILED, async |page| {
        drawn(page).await;
        let stages = "const f = [...document.querySelectorAll('.scn .fld')].find(f => f.textContent.trim().startsWith('PP')); \
            const i = f.querySelector('input'); i.focus(); i.value = arguments[0]; \
            for (const kind of ['input', 'change']) i.dispatchEvent(new Event(kind, { bubbles: true }));";
        for (bad, why) in [
            ("127", "127 is not allowed, expected 1 to 126"),
            ("0", "0 is not allowed, expected 1 to 126"),
        ] {
            page.script(stages, json!([bad])).await;
            let told =
                format!("document.querySelector('.scn .err')?.textContent.includes('{why}')");
            page.until("more stages than layers, or none, to be refused", &told)
                .await;
        }
        page.follow(
            "#/rack?sys=gb300-nvl72&model=llama3-405b&tp=72&pp=14&dp=8&gbs=800000&fail=0.17",
        )
        .await;
        page.until(
            "the cap on operations",
            "/^timeline: [0-9]+ operations are not allowed, expected at most 1000000;/.test(document.querySelector('.gerr')?.textContent.trim())",
        )
        .await;
        page.follow("#/rack?sys=gb300-nvl72&model=llama3-70b&tp=72&pp=1&dp=8&gbs=8&fail=0.17")
            .await;
        page.until("the step again", "!document.querySelector('.gerr')")
            .await;
        page.script(
            "document.querySelector('.gh .popwrap button').click()",
            json!([]),
        )
        .await;
        page.script(
            "const i = [...document.querySelectorAll('.gwhat input[type=number]')].at(-1); i.value = '100'; \
             i.dispatchEvent(new Event('change', { bubbles: true }))",
            json!([]),
        )
        .await;
        page.until(
            "what is special about one bucket, one micro-batch, one stage",
            "['The bucket holds all gradients', 'One micro-batch:', 'One stage:'] \
             .every(note => document.querySelector('.gwhat')?.textContent.includes(note))",
        )
        .await;
        page.follow("#/rack?sys=gb300-nvl72&model=llama3-405b&model.layers=0")
            .await;
        page.until(
            "zero layers to be refused",
            "document.querySelector('.notice.on')?.textContent.includes('model.layers: 0 is not allowed, expected 1 to 10000')",
        )
        .await;
        drawn(page).await;
    });
}

#[test]
fn the_step_is_saved_and_handed_to_perfetto() {
    browse("step-files", View::DESKTOP, FAILED, async |page| {
        drawn(page).await;
        let catch = "window.saved = []; const make = URL.createObjectURL; \
            URL.createObjectURL = blob => { const u = make(blob); blob.text().then(t => saved.push([blob.type, t])); return u }; \
            HTMLAnchorElement.prototype.click = function () { if (this.download) saved.push([this.download, this.href.slice(0, 22)]) }; \
            window.posted = []; window.open = address => { const tab = { closed: false, postMessage: (m, o) => posted.push([m, o, address]) }; return tab }";
        page.script(catch, json!([])).await;
        page.script(
            "document.querySelectorAll('.gh .popwrap button')[1].click()",
            json!([]),
        )
        .await;
        page.settle().await;
        page.script(
            "document.querySelectorAll('.gsave button').forEach(b => b.click())",
            json!([]),
        )
        .await;
        page.until("five entries", "saved.length >= 5").await;
        let saved = page
            .value("saved.map(([kind, text]) => [kind, text.length, text.slice(0, 30)])")
            .await;
        let kinds = page.value("saved.map(s => s[0])").await.to_string();
        for kind in [
            "step-trace.json",
            "application/json",
            "step.svg",
            "image/svg+xml",
            "step.png",
        ] {
            assert!(kinds.contains(kind), "{kind} in {saved}");
        }
        let events = page
            .value("JSON.parse(saved.find(s => s[0] === 'application/json')[1]).traceEvents.length")
            .await;
        assert!(
            events.as_f64().is_some_and(|count| count > 1000.0),
            "{events}"
        );
        assert!(
            page.value("saved.find(s => s[0] === 'step.png')[1]")
                .await
                .as_str()
                .is_some_and(|u| u.starts_with("data:image/png"))
        );
        let perfetto = "[...document.querySelectorAll('.gh > button')].find(b => b.textContent.includes('Perfetto')).click()";
        page.script(perfetto, json!([])).await;
        page.until("a question", "posted.some(p => p[0] === 'PING')")
            .await;
        page.script("dispatchEvent(new MessageEvent('message', { data: 'PONG', origin: 'https://elsewhere.example' }))", json!([])).await;
        page.settle().await;
        assert_eq!(
            page.value("posted.filter(p => p[0].perfetto).length").await,
            0,
            "only the viewer is answered"
        );
        page.script("dispatchEvent(new MessageEvent('message', { data: 'PONG', origin: 'https://ui.perfetto.dev' }))", json!([])).await;
        page.until("the trace", "posted.some(p => p[0].perfetto)")
            .await;
        let sent = page.value("posted.filter(p => p[0].perfetto).map(p => [p[0].perfetto.buffer.byteLength, p[0].perfetto.title, p[1]])[0]").await;
        assert!(sent[0].as_f64().is_some_and(|bytes| bytes > 1e5), "{sent}");
        assert_eq!(sent[2], "https://ui.perfetto.dev");
    });
}

#[test]
fn two_fingers_zoom_on_a_phone() {
    browse("step-pinch", View::PHONE, FAILED, async |page| {
        page.script("[...document.querySelectorAll('.ptabs *')].find(t => t.textContent === 'One step').click()", json!([])).await;
        page.until(
            "a canvas",
            "document.querySelector('.gplot canvas')?.width > 200",
        )
        .await;
        page.settle().await;
        let first = window(page).await;
        let finger =
            |id: u32| json!({ "pointerId": id, "pointerType": "touch", "isPrimary": id == 1 });
        send(page, "pointerdown", 0.5, 60.0, finger(1)).await;
        send(page, "pointerdown", 0.7, 60.0, finger(2)).await;
        send(page, "pointermove", 0.3, 60.0, finger(1)).await;
        send(page, "pointermove", 0.9, 60.0, finger(2)).await;
        send(page, "pointerup", 0.3, 60.0, finger(1)).await;
        send(page, "pointerup", 0.9, 60.0, finger(2)).await;
        let closer = window(page).await;
        let factor = (first.1 - first.0) / (closer.1 - closer.0);
        assert!(
            (2.0..4.5).contains(&factor),
            "{factor}: {first:?} {closer:?}"
        );
    });
}

#[test]
fn the_table_says_what_the_picture_shows() {
    browse("step-table", View::DESKTOP, FAILED, async |page| {
        drawn(page).await;
        page.script("document.querySelector('.gtable').open = true", json!([]))
            .await;
        page.until(
            "rows",
            "document.querySelectorAll('.gtable tbody tr').length > 10",
        )
        .await;
        let text = page
            .value("document.querySelector('.gtable').textContent")
            .await;
        let text = text.as_str().expect("text");
        assert!(
            text.contains("Healthy, compute") && text.contains("spans in view"),
            "{text}"
        );
    });
}

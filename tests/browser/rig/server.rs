//! A static file server for the built page, in a sub-path as on a project site of a static host.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use tiny_http::{Header, Request, Response, Server};

/// The page must work from any folder; this is the one it is tested in.
pub const SUB_PATH: &str = "/some/sub/path/";

/// Serves `dist` on a free port of the loopback until the process ends; gives the origin, `http://127.0.0.1:PORT`.
pub fn serve(dist: PathBuf) -> String {
    let server = Server::http("127.0.0.1:0").expect("a free port on the loopback");
    let origin = format!("http://{}", server.server_addr());
    thread::spawn(move || {
        for request in server.incoming_requests() {
            answer(request, &dist);
        }
    });
    origin
}

fn answer(request: Request, dist: &Path) {
    let path = request
        .url()
        .split(['?', '#'])
        .next()
        .unwrap_or_default()
        .to_owned();
    let result = match path.strip_prefix(SUB_PATH) {
        Some("") => request.respond(file(&dist.join("index.html"))),
        Some(name) if !name.contains("..") => request.respond(file(&dist.join(name))),
        _ => request.respond(missing()),
    };
    // A browser that closes a connection early is no failure of the test.
    drop(result);
}

fn file(path: &Path) -> Response<std::io::Cursor<Vec<u8>>> {
    let Ok(bytes) = fs::read(path) else {
        return missing();
    };
    let kind = match path.extension().and_then(|ext| ext.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    };
    Response::from_data(bytes)
        .with_header(header("Content-Type", kind))
        .with_header(header("Cache-Control", "no-cache"))
}

fn missing() -> Response<std::io::Cursor<Vec<u8>>> {
    Response::from_string("not found").with_status_code(404)
}

fn header(name: &str, value: &str) -> Header {
    Header::from_bytes(name, value).expect("a valid header")
}
